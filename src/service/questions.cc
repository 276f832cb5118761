// The verbs that only read: list, show, why, logs.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "record/receipts.h"
#include "service/collect.h"
#include "service/durable.h"
#include "service/local.h"
#include "service/recover.h"
#include "service/select.h"
#include "sys/files.h"

namespace bawn::service {
namespace {

struct Found {
  Caller caller;
  workspace::StateDir state;
  workspace::SandboxMeta meta;
  workspace::SandboxDir dir;
  std::vector<record::StoredReceipt> receipts;
};

Result<Found> Find(const std::vector<std::string>& environment, const SandboxSelector& selector) {
  Found found;
  found.caller = BAWN_TRY(IdentifyCaller(environment));
  found.state = BAWN_TRY(OpenState(found.caller));
  BAWN_CHECK_OK(RecoverInterrupted(found.state));
  found.meta = BAWN_TRY(SelectSandbox(found.caller, found.state, selector, Meaning::kQuestion));
  found.dir = BAWN_TRY(workspace::OpenSandboxDir(found.state, found.meta.id, false));
  found.receipts = BAWN_TRY(record::ReadReceipts(found.dir.fd.get()));
  return found;
}

// The newest job that somebody asked for: what `list`, `why` and `logs` are about.
const record::StoredReceipt* Newest(const std::vector<record::StoredReceipt>& receipts) {
  for (const record::StoredReceipt& one : receipts) {
    if (!IsCollectJob(one.json)) return &one;
  }
  return nullptr;
}

Json Summary(const workspace::ListedSandbox& one) {
  JsonObject json;
  json["sandbox_id"] = one.meta.id;
  if (!one.damaged.empty()) {
    json["damaged"] = TerminalSafe(one.damaged);
    return Json(std::move(json));
  }
  json["name"] = one.meta.name;
  json["state"] = one.live ? std::string("live") : one.meta.state;
  json["kept"] = one.meta.kept;
  json["workspace"] = EscapeName(one.meta.workspace_path);
  json["created_at"] = FormatTime(one.meta.created_at_ns);
  json["age_seconds"] = (RealtimeNs() - one.meta.created_at_ns) / 1'000'000'000;
  json["rev"] = one.meta.rev;
  JsonArray command;
  for (const std::string& word : one.meta.command) command.emplace_back(EscapeName(word));
  json["command"] = std::move(command);
  return Json(std::move(json));
}

// Adds the figures of the newest receipt: what changed, how it ended.
Result<> AddReceipt(const workspace::StateDir& state, const std::string& id, Json* summary) {
  Result<workspace::SandboxDir> dir = workspace::OpenSandboxDir(state, id, false);
  if (!dir && dir.error().code == ErrorCode::kNotFound) return {};  // it has just gone
  if (!dir) return std::unexpected(std::move(dir).error());
  std::vector<record::StoredReceipt> receipts = BAWN_TRY(record::ReadReceipts(dir->fd.get()));
  const record::StoredReceipt* newest = Newest(receipts);
  if (newest == nullptr) return {};
  if (!newest->damaged.empty()) return Fail(ErrorCode::kInternal, newest->damaged);
  JsonObject& object = *summary->AsObject();
  for (const char* member : {"outcome", "workspace"}) {
    if (const Json* value = newest->json.Get(member)) object[member] = *value;
  }
  return {};
}

}  // namespace

Result<Json> LocalBawn::List(const std::string& workspace_dir, bool everywhere) {
  Caller caller = BAWN_TRY(IdentifyCaller(environment_));
  workspace::StateDir state = BAWN_TRY(OpenState(caller));
  std::vector<std::string> recovered = BAWN_TRY(RecoverInterrupted(state));
  std::string root;
  if (!everywhere) root = BAWN_TRY(FindWorkspace(caller, workspace_dir));
  std::vector<workspace::ListedSandbox> all = BAWN_TRY(workspace::ListSandboxes(state));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.meta.created_at_ns > b.meta.created_at_ns;
  });
  JsonArray sandboxes;
  for (const workspace::ListedSandbox& one : all) {
    bool here = everywhere || !one.damaged.empty() || one.meta.workspace_path == root;
    // What was published, discarded or changed nothing is a record, not something to act on.
    bool matters = one.meta.kept || one.live || !one.damaged.empty();
    if (!here || !matters) continue;
    Json summary = Summary(one);
    Result<> added = AddReceipt(state, one.meta.id, &summary);
    if (!added) {
      recovered.push_back(one.meta.name + ": its receipts cannot be read, so how it ended is not " +
                          "shown: " + added.error().message);
    }
    sandboxes.push_back(std::move(summary));
  }
  JsonObject answer;
  answer["sandboxes"] = std::move(sandboxes);
  JsonArray notes;
  for (const std::string& line : recovered) notes.emplace_back(line);
  answer["recovered"] = std::move(notes);
  return Json(std::move(answer));
}

Result<Json> LocalBawn::Show(const SandboxSelector& sandbox) {
  Found found = BAWN_TRY(Find(environment_, sandbox));
  JsonObject answer;
  answer["sandbox"] = workspace::ToJson(found.meta);
  answer["durable"] = found.meta.kept ? DurableState(found.dir) : "none";
  JsonArray receipts, own;  // Bawn's own come last
  for (record::StoredReceipt& one : found.receipts) {
    if (one.damaged.empty()) {
      (IsCollectJob(one.json) ? own : receipts).push_back(std::move(one.json));
    } else {
      JsonObject damaged;
      damaged["job_id"] = one.job_id;
      damaged["damaged"] = TerminalSafe(one.damaged);
      receipts.emplace_back(std::move(damaged));
    }
  }
  for (Json& one : own) receipts.push_back(std::move(one));
  answer["receipts"] = std::move(receipts);
  return Json(std::move(answer));
}

Result<Json> LocalBawn::Why(const SandboxSelector& sandbox) {
  Found found = BAWN_TRY(Find(environment_, sandbox));
  JsonObject answer;
  answer["sandbox_id"] = found.meta.id;
  answer["sandbox_name"] = found.meta.name;
  Result<std::string> decisions =
      sys::ReadFileAt(found.dir.fd.get(), "decisions.json", 16 << 20, sys::kUntrusted);
  if (!decisions && decisions.error().sys_errno != ENOENT) {
    return std::unexpected(std::move(decisions).error());
  }
  answer["decisions"] = decisions ? BAWN_TRY(ParseJson(*decisions)) : Json(JsonArray{});
  if (const record::StoredReceipt* newest = Newest(found.receipts)) {
    for (const char* member : {"containment", "outcome", "egress", "limits", "direct_writes"}) {
      if (const Json* value = newest->json.Get(member)) answer[member] = *value;
    }
  }
  return Json(std::move(answer));
}

Result<> LocalBawn::Logs(const SandboxSelector& sandbox, const std::string& stream, int fd) {
  Found found = BAWN_TRY(Find(environment_, sandbox));
  const record::StoredReceipt* newest = Newest(found.receipts);
  if (newest == nullptr) {
    return Fail(ErrorCode::kNotFound, "no job of " + found.meta.name + " has ended yet");
  }
  bool any = false;
  for (const char* name : {"out", "err"}) {
    if (stream != "both" && stream != name) continue;
    std::string path = "jobs/" + newest->job_id + "/" + name + ".log";
    Result<UniqueFd> log = sys::Openat2(found.dir.fd.get(), path, O_RDONLY, 0, sys::kUntrusted);
    if (!log) continue;  // a silent stream has no file
    any = true;
    std::string chunk(256 << 10, '\0');
    while (size_t got = BAWN_TRY(sys::Read(log->get(), chunk.data(), chunk.size()))) {
      BAWN_CHECK_OK(sys::WriteAll(fd, std::string_view(chunk.data(), got)));
    }
  }
  if (any) return {};
  return Fail(ErrorCode::kNotFound, "the last job of " + found.meta.name + " kept no output",
              "it printed nothing, or ran with --no-log");
}

}  // namespace bawn::service
