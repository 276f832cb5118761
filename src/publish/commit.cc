#include <time.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "publish/finish.h"
#include "publish/lock.h"
#include "publish/publish.h"
#include "publish/tree.h"
#include "review/content.h"
#include "sys/files.h"
#include "workspace/remembered.h"

namespace bawn::publish {
namespace {

using workspace::EntryType;

constexpr char kCommitterName[] = "Bawn";
constexpr char kCommitterEmail[] = "bawn@localhost";
// Written before the ref moves, removed when everything after it is done.
constexpr char kIntentName[] = "publishing.json";
constexpr size_t kIntentBytesMax = size_t{1} << 30;

Result<std::string> CleanMessage(const std::string& message) {
  std::string clean = message.substr(0, message.find_last_not_of(" \t\r\n") + 1);
  if (clean.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "a commit needs a message", "say it with -m",
                "publish.message");
  }
  if (clean.size() > kMessageBytesMax || clean.find('\0') != std::string::npos) {
    return Fail(ErrorCode::kInvalidArgument,
                "the message holds a NUL or more than " + FormatBytes(kMessageBytesMax), "",
                "publish.message");
  }
  return clean + "\n";
}

git::Repo::Signature Now(std::string name, std::string email) {
  git::Repo::Signature who{std::move(name), std::move(email), time(nullptr), 0};
  time_t seconds = who.seconds;
  tm local = {};
  localtime_r(&seconds, &local);
  who.offset_minutes = static_cast<int>(local.tm_gmtoff / 60);
  return who;
}

// The blob of one path as git would store it, added unless the parent has it at that path.
Result<TreeChange> ToTreeChange(const review::Source& source, const git::Oid& parent_tree,
                                const review::Reviewed& reviewed) {
  TreeChange change;
  change.path = reviewed.change.path;
  if (reviewed.new_git_mode == 0) return change;
  change.mode = static_cast<git::FileMode>(reviewed.new_git_mode);
  change.oid = reviewed.new_oid;
  if (!parent_tree.empty()) {
    std::optional<git::TreeEntry> old = BAWN_TRY(source.repo->FindInTree(parent_tree, change.path));
    if (old && old->oid == change.oid) return change;
  }
  std::string content = BAWN_TRY(review::NewContent(source, reviewed));
  git::Oid added = BAWN_TRY(source.repo->AddBlob(content));
  if (added == change.oid) return change;
  return Fail(ErrorCode::kConflict, EscapeName(change.path) + " is not what was reviewed any more",
              "look at the changes again with `bawn diff`", "publish.digest");
}

Result<git::Oid> MakeTree(const PublishContext& context, const PreparedPublish& prepared) {
  git::Oid base;
  if (!prepared.parent.empty()) {
    base = BAWN_TRY(context.repo.TreeOfCommit(prepared.parent));
  }
  review::Source source{prepared.set, context.meta, &context.repo};
  std::vector<TreeChange> changes;
  changes.reserve(prepared.selection.taken.size());
  for (const Selection::Taken& taken : prepared.selection.taken) {
    changes.push_back(BAWN_TRY(ToTreeChange(source, base, *taken.reviewed)));
  }
  return BuildTree(context.repo, base, changes);
}

std::vector<const workspace::Change*> Carried(const PreparedPublish& prepared) {
  std::vector<const workspace::Change*> carried;
  for (const Selection::Taken& taken : prepared.selection.taken) {
    carried.push_back(&taken.reviewed->change);
  }
  return carried;
}

// {ref, commit, covers_all, carried: [[path, fingerprint] …]}
Result<> WriteIntent(const PublishContext& context, const PreparedPublish& prepared,
                     const git::Oid& commit) {
  JsonArray rows;
  if (!prepared.selection.CoversAll()) {
    for (const workspace::Change* change : Carried(prepared)) {
      rows.emplace_back(JsonArray{EscapeName(change->path), workspace::Fingerprint(*change)});
    }
  }
  JsonObject json;
  json["ref"] = prepared.ref;
  json["commit"] = commit;
  json["covers_all"] = prepared.selection.CoversAll();
  json["carried"] = std::move(rows);
  return sys::WriteFileAtomic(context.dir.fd.get(), kIntentName, ToJsonText(Json(std::move(json))),
                              0600, false);
}

// Everything after the ref has moved; may be repeated.
Result<> FinishPublish(const PublishContext& context, const Json& intent) {
  if (intent.GetBool("covers_all")) {
    BAWN_CHECK_OK(EndSandbox(context.dir, context.meta, kPublished));
  } else {
    std::vector<CarriedPath> carried;
    const Json* rows = intent.Get("carried");
    for (const Json& row : rows == nullptr ? JsonArray() : *rows->AsArray()) {
      const JsonArray& cells = *row.AsArray();
      std::optional<std::string> path = UnescapeName(*cells.at(0).AsString());
      if (path) carried.push_back({*path, *cells.at(1).AsString()});
    }
    BAWN_CHECK_OK(RememberCarried(context.dir, carried));
    if (context.meta.extra.AsObject() == nullptr) context.meta.extra = JsonObject();
    Json& branches = (*context.meta.extra.AsObject())["branches"];
    if (branches.AsObject() == nullptr) branches = JsonObject();
    (*branches.AsObject())[intent.GetString("ref")] = intent.GetString("commit");
    ++context.meta.rev;
    BAWN_CHECK_OK(workspace::WriteMeta(context.dir, context.meta, true));
  }
  Result<> gone = sys::Unlinkat(context.dir.fd.get(), kIntentName);
  if (!gone && gone.error().sys_errno != ENOENT) return gone;
  return {};
}

Result<Json> ReadIntent(const workspace::SandboxDir& dir) {
  std::string text =
      BAWN_TRY(sys::ReadFileAt(dir.fd.get(), kIntentName, kIntentBytesMax, sys::kUntrusted));
  Json json = BAWN_TRY(ParseJson(text, {.bytes_max = kIntentBytesMax, .depth_max = 4}));
  const Json* rows = json.Get("carried");
  bool good = rows != nullptr && rows->AsArray() != nullptr;
  for (const Json& row : good ? *rows->AsArray() : JsonArray()) {
    const JsonArray* cells = row.AsArray();
    good = good && cells != nullptr && cells->size() == 2 && (*cells)[0].AsString() != nullptr &&
           (*cells)[1].AsString() != nullptr;
  }
  if (good) return json;
  return Fail(ErrorCode::kInternal, std::string(kIntentName) + " cannot be read");
}

}  // namespace

Result<Published> CommitPublish(const PublishContext& context, PreparedPublish& prepared,
                                const PublishRequest& request) {
  std::string message = BAWN_TRY(CleanMessage(request.message));
  SelectOptions options{Purpose::kPublish, request.paths, request.yes_paths, request.include_dirty};
  prepared.selection = BAWN_TRY(Select(prepared.review, options));
  BAWN_CHECK_OK(CheckComplete(prepared.selection, Purpose::kPublish));
  UniqueFd lock = BAWN_TRY(LockRef(context.state, context.meta.common_dir, prepared.ref));

  git::Oid tree = BAWN_TRY(MakeTree(context, prepared));
  Published published;
  published.ref = prepared.ref;
  if (!prepared.parent.empty()) published.parents = {prepared.parent};
  published.commit = BAWN_TRY(context.repo.AddCommit(
      tree, published.parents, Now(request.author_name, request.author_email),
      Now(kCommitterName, kCommitterEmail), message));
  published.unsigned_although_asked = BAWN_TRY(context.repo.ConfigBool("commit.gpgsign", false));
  context.step();
  BAWN_CHECK_OK(context.repo.WritePack());
  context.step();
  BAWN_CHECK_OK(WriteIntent(context, prepared, published.commit));
  context.step();
  Result<> moved = context.repo.CompareAndSwapRef(prepared.ref, prepared.expected, published.commit,
                                                  "bawn publish: " + context.meta.name);
  if (!moved) {
    (void)sys::Unlinkat(context.dir.fd.get(), kIntentName);  // the first error is reported
    return std::unexpected(std::move(moved).error());
  }
  context.step();
  Json intent = BAWN_TRY(ReadIntent(context.dir));
  BAWN_CHECK_OK(FinishPublish(context, intent));
  published.ended = IsEnded(context.meta.state);
  return published;
}

bool HasIntent(const workspace::SandboxDir& dir) {
  return sys::Fstatat(dir.fd.get(), kIntentName).has_value();
}

Result<> RecoverPublish(const PublishContext& context) {
  Result<Json> intent = ReadIntent(context.dir);
  if (!intent && intent.error().sys_errno == ENOENT) return {};
  if (!intent) return std::unexpected(std::move(intent).error());
  std::optional<git::Oid> now = BAWN_TRY(context.repo.ReadRef(intent->GetString("ref")));
  if (now && *now == intent->GetString("commit")) return FinishPublish(context, *intent);
  return sys::Unlinkat(context.dir.fd.get(), kIntentName);  // the ref never moved
}

JsonObject ToJson(const PreparedPublish& prepared, const Published& published,
                  const workspace::SandboxMeta& meta) {
  JsonObject json = ToJson(prepared);
  json["commit"] = published.commit;
  JsonArray parents;
  for (const git::Oid& parent : published.parents) parents.emplace_back(parent);
  json["parents"] = std::move(parents);
  JsonArray warnings;
  if (published.unsigned_although_asked) {
    warnings.emplace_back("commit.gpgsign is set, but no program is run: the commit is unsigned");
  }
  for (const Named& one : prepared.selection.builds) {
    warnings.emplace_back("runs when someone builds: " + EscapeName(one.path));
  }
  for (const Named& one : prepared.selection.notes) {
    warnings.emplace_back(EscapeName(one.path) + " " + one.reason);
  }
  json["warnings"] = std::move(warnings);
  json["inside_commits"] = nullptr;  // the payload's git directory is never opened (RT-11)
  json["squashed"] = true;
  json["tree_changed"] = false;
  std::string branch = EscapeName(prepared.ref.substr(11));
  json["deploy"] = "git merge " + branch;
  json["live"] = "branch " + branch + " holds the changes; no work tree and no index was touched";
  json["ended"] = published.ended;
  json["state"] = meta.state;
  return json;
}

}  // namespace bawn::publish
