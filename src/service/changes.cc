// The verbs that bawn-worker carries out: diff, publish, apply, discard. This side chooses the
// sandbox and passes the caller's words on; everything that reads what a payload wrote is there.
#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "record/receipts.h"
#include "service/behind.h"
#include "service/collect.h"
#include "service/durable.h"
#include "service/local.h"
#include "service/recover.h"
#include "service/select.h"
#include "service/session.h"
#include "service/worker_client.h"

namespace bawn::service {
namespace {

JsonArray Names(const std::vector<std::string>& names) {
  JsonArray array;
  for (const std::string& name : names) array.emplace_back(EscapeName(name));
  return array;
}

struct Target {
  Caller caller;
  workspace::StateDir state;
  workspace::SandboxMeta meta;
  std::vector<std::string> recovered;  // what an earlier, killed Bawn left and this command cleaned
};

// A live sandbox is stopped before its changes are fixed (RT-15): nothing may write between what
// was reviewed and what is published. Its changes stay.
Result<> StopLive(const workspace::StateDir& state, const workspace::SandboxMeta& meta,
                  std::vector<std::string>* notes) {
  if (!BAWN_TRY(EndLive(state, meta.id))) return {};
  BAWN_CHECK_OK(RecoverInterrupted(state));
  notes->push_back(meta.name + " was live; it was stopped, its changes are kept");
  return {};
}

// What a killed write-back left is done now; what a stopped machine may have cost is said.
Result<> SeeToDurability(Target* target) {
  if (target->meta.kept) {
    Result<workspace::SandboxDir> dir =
        workspace::OpenSandboxDir(target->state, target->meta.id, true);
    if (dir) {
      target->meta = BAWN_TRY(workspace::ReadMeta(*dir));
      BAWN_CHECK_OK(NoteLostWriteBack(*dir, &target->meta));
      BAWN_CHECK_OK(TakeOverWriteBack(*dir));
    } else if (dir.error().code != ErrorCode::kConflict) {
      return std::unexpected(std::move(dir).error());
    }
  }
  if (std::string lost = LostWriteBack(target->meta); !lost.empty()) {
    target->recovered.push_back(std::move(lost));
  }
  return {};
}

Result<Target> Choose(const std::vector<std::string>& environment, const SandboxSelector& selector,
                      Meaning meaning) {
  Target target;
  target.caller = BAWN_TRY(IdentifyCaller(environment));
  target.state = BAWN_TRY(OpenState(target.caller));
  target.recovered = BAWN_TRY(RecoverInterrupted(target.state));
  target.meta = BAWN_TRY(SelectSandbox(target.caller, target.state, selector, meaning));
  if (meaning == Meaning::kAct) {
    BAWN_CHECK_OK(StopLive(target.state, target.meta, &target.recovered));
  }
  BAWN_CHECK_OK(SeeToDurability(&target));
  return target;
}

JsonObject Request(const char* op, const Target& target) {
  JsonObject request;
  request["op"] = op;
  request["state"] = EscapeName(target.state.path);
  request["sandbox"] = target.meta.id;
  return request;
}

// Publish and apply: the answer first, then what its end leaves to be removed.
Result<Json> CallAct(const Target& target, JsonObject request,
                     const std::function<bool(const Json&)>& confirm, int objects_fd = -1) {
  Json answer = BAWN_TRY(CallWorker(target.caller, std::move(request), -1, confirm, objects_fd));
  // The act is done: what cannot be removed now is found by its marker.
  if (answer.GetBool("ended")) (void)RemoveBehind(target.state, target.meta.id);
  return answer;
}

// Which sandbox an answer is about.
Json Named(Json answer, const Target& target) {
  if (JsonObject* object = answer.AsObject()) {
    (*object)["sandbox_id"] = target.meta.id;
    (*object)["sandbox_name"] = target.meta.name;
    JsonArray recovered;
    for (const std::string& line : target.recovered) recovered.emplace_back(line);
    if (!recovered.empty()) (*object)["recovered"] = std::move(recovered);
  }
  return answer;
}

// The author that git itself would report in that directory (E-17).
Result<> AddIdentity(const Target& target, JsonObject* request) {
  std::optional<workspace::Repository> repository =
      BAWN_TRY(workspace::FindRepository(target.meta.workspace_path));
  if (!repository) return {};  // the worker refuses, and says what works there
  workspace::GitConfig config =
      BAWN_TRY(workspace::ReadGitConfig(repository, target.caller.home, target.caller.environment));
  workspace::Identity author = workspace::AuthorIdentity(config, target.caller.environment);
  if (author.name.empty() || author.email.empty()) {
    return Fail(ErrorCode::kFailedPrecondition, "no author identity is set for this repository",
                "git config user.name \"Your Name\" && git config user.email you@example.org",
                "publish.identity");
  }
  JsonObject json;
  json["name"] = EscapeName(author.name);
  json["email"] = EscapeName(author.email);
  (*request)["author"] = Json(std::move(json));
  return {};
}

// What the sandbox's jobs could write on the host by --rw: no diff can show it, so it is named.
Result<JsonArray> DirectWrites(const Target& target) {
  workspace::SandboxDir dir =
      BAWN_TRY(workspace::OpenSandboxDir(target.state, target.meta.id, false));
  JsonArray paths;
  for (const record::StoredReceipt& job : BAWN_TRY(record::ReadReceipts(dir.fd.get()))) {
    const Json* listed = job.json.Get("direct_writes");
    if (listed == nullptr || listed->AsArray() == nullptr) continue;
    for (const Json& path : *listed->AsArray()) {
      if (path.AsString() == nullptr) continue;
      bool known = std::ranges::any_of(
          paths, [&](const Json& one) { return *one.AsString() == *path.AsString(); });
      if (!known) paths.push_back(path);
    }
  }
  return paths;
}

}  // namespace

Result<Json> LocalBawn::Diff(const DiffOptions& options) {
  Target target = BAWN_TRY(Choose(environment_, options.sandbox, Meaning::kQuestion));
  JsonObject request = Request("diff", target);
  request["stat"] = options.stat;
  request["names_only"] = options.names_only;
  request["nul_terminated"] = options.nul_terminated;
  request["digest_only"] = options.digest_only;
  request["json"] = options.json;
  request["colour"] = options.colour;
  request["terminal"] = options.terminal;
  request["include_ignored"] = options.include_ignored;
  request["paths"] = Names(options.paths);
  Json answer =
      Named(BAWN_TRY(CallWorker(target.caller, std::move(request), options.text_fd)), target);
  if (JsonObject* object = answer.AsObject()) {
    (*object)["direct_writes"] = BAWN_TRY(DirectWrites(target));
  }
  return answer;
}

Result<Json> LocalBawn::Publish(const PublishOptions& options, const Confirm& confirm) {
  Target target = BAWN_TRY(Choose(environment_, options.sandbox, Meaning::kAct));
  JsonObject request = Request("publish", target);
  BAWN_CHECK_OK(AddIdentity(target, &request));
  request["branch"] = options.branch;
  request["message"] = options.message;
  request["reviewed"] = options.reviewed;
  request["unreviewed"] = options.unreviewed;
  request["lfs"] = options.lfs;
  request["merge"] = options.merge;
  request["squash"] = options.squash;
  request["include_dirty"] = options.include_dirty;
  request["update_tree"] = options.update_tree;
  request["paths"] = Names(options.paths);
  request["yes_paths"] = Names(options.yes_paths);
  UniqueFd objects;
  if (!options.squash) {
    objects = BAWN_TRY(CollectCommits(target.caller, target.state, target.meta));
  }
  request["objects"] = objects.valid();
  return Named(BAWN_TRY(CallAct(target, std::move(request), confirm, objects.get())), target);
}

Result<Json> LocalBawn::Apply(const ApplyOptions& options, const Confirm& confirm) {
  // Undo means the newest: what was applied may have ended the sandbox.
  Meaning meaning = options.undo ? Meaning::kQuestion : Meaning::kAct;
  Target target = BAWN_TRY(Choose(environment_, options.sandbox, meaning));
  JsonObject request = Request("apply", target);
  request["reviewed"] = options.reviewed;
  request["unreviewed"] = options.unreviewed;
  request["merge"] = options.merge;
  request["undo"] = options.undo;
  request["paths"] = Names(options.paths);
  request["yes_paths"] = Names(options.yes_paths);
  return Named(BAWN_TRY(CallAct(target, std::move(request), confirm)), target);
}

namespace {

Result<std::vector<workspace::SandboxMeta>> ChooseForDiscard(const Caller& caller,
                                                             const workspace::StateDir& state,
                                                             const DiscardOptions& options) {
  std::vector<workspace::SandboxMeta> chosen;
  if (!options.all && !options.older_ms) {
    chosen.push_back(BAWN_TRY(SelectSandbox(caller, state, options.sandbox, Meaning::kAct)));
    return chosen;
  }
  int64_t now = RealtimeNs();
  for (workspace::ListedSandbox& one : BAWN_TRY(workspace::ListSandboxes(state))) {
    bool pending = one.meta.kept || !one.damaged.empty();
    if (one.live || !pending) continue;
    int64_t age_ms = (now - one.meta.created_at_ns) / 1'000'000;
    // When a damaged one was made, nobody knows.
    bool old = !options.older_ms ||
               (one.damaged.empty() && age_ms >= static_cast<int64_t>(*options.older_ms));
    if (old) chosen.push_back(std::move(one.meta));
  }
  return chosen;
}

}  // namespace

Result<Json> LocalBawn::Discard(const DiscardOptions& options, const Confirm& confirm) {
  Caller caller = BAWN_TRY(IdentifyCaller(environment_));
  workspace::StateDir state = BAWN_TRY(OpenState(caller));
  BAWN_CHECK_OK(RecoverInterrupted(state));
  std::vector<workspace::SandboxMeta> chosen = BAWN_TRY(ChooseForDiscard(caller, state, options));
  JsonArray names;
  for (const workspace::SandboxMeta& meta : chosen) {
    JsonObject one;
    one["sandbox_id"] = meta.id;
    one["sandbox_name"] = meta.name;
    one["workspace"] = EscapeName(meta.workspace_path);
    one["kept"] = meta.kept;
    names.emplace_back(std::move(one));
  }
  JsonObject answer;
  answer["discarded"] = std::move(names);
  if (!chosen.empty() && confirm && !confirm(Json(answer))) {
    return Fail(ErrorCode::kFailedPrecondition, "not confirmed: nothing was discarded", {},
                "confirm.refused");
  }
  std::vector<std::string> stopped;
  for (const workspace::SandboxMeta& meta : chosen) {
    BAWN_CHECK_OK(StopLive(state, meta, &stopped));
    JsonObject request = Request("discard", Target{caller, {}, meta, {}});
    request["state"] = EscapeName(state.path);
    BAWN_CHECK_OK(CallWorker(caller, std::move(request), -1));
  }
  return Json(std::move(answer));
}

}  // namespace bawn::service
