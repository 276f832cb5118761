#include <time.h>

#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "publish/deploy.h"
#include "publish/finish.h"
#include "publish/intent.h"
#include "publish/lfs_store.h"
#include "publish/lock.h"
#include "publish/publish.h"
#include "publish/tree.h"
#include "publish/update_tree.h"
#include "review/content.h"
#include "sys/files.h"
#include "workspace/remembered.h"

namespace bawn::publish {
namespace {

using workspace::EntryType;

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

// False when the sandbox no longer has what was reviewed. Where the review kept its bytes they are
// compared, and neither converted nor hashed again.
Result<bool> AddReviewed(const review::Source& source, const review::Reviewed& reviewed) {
  const workspace::Change& file = reviewed.change;
  if (reviewed.new_blob) {
    std::string now = BAWN_TRY(workspace::ReadNew(source.set, file, review::kFileBytesMax));
    if (now != *file.new_bytes) return false;
    BAWN_CHECK_OK(source.repo->AddHashedBlob(reviewed.new_oid, *reviewed.new_blob));
    return true;
  }
  std::string content = BAWN_TRY(review::NewContent(source, reviewed));
  return BAWN_TRY(source.repo->AddBlob(content)) == reviewed.new_oid;
}

// The blob of one path as git would store it, added unless the parent has it at that path.
Result<TreeChange> ToTreeChange(const review::Source& source, const git::Oid& parent_tree,
                                const Selection::Taken& taken) {
  const review::Reviewed& reviewed = *taken.reviewed;
  TreeChange change;
  change.path = reviewed.change.path;
  if (taken.merged != nullptr) {
    change.mode = taken.merged->git_mode;
    change.oid = BAWN_TRY(source.repo->AddBlob(taken.merged->blob));
    return change;
  }
  if (reviewed.new_git_mode == 0) return change;
  change.mode = static_cast<git::FileMode>(reviewed.new_git_mode);
  change.oid = reviewed.new_oid;
  if (!parent_tree.empty()) {
    std::optional<git::TreeEntry> old = BAWN_TRY(source.repo->FindInTree(parent_tree, change.path));
    if (old && old->oid == change.oid) return change;
  }
  if (BAWN_TRY(AddReviewed(source, reviewed))) return change;
  return Fail(ErrorCode::kConflict, EscapeName(change.path) + " is not what was reviewed any more",
              "look at the changes again with `bawn diff`", "publish.digest");
}

Result<std::vector<TreeChange>> MakeTreeChanges(const PublishContext& context,
                                                const PreparedPublish& prepared,
                                                const git::Oid& base) {
  review::Source source{prepared.set, context.meta, &context.repo};
  std::vector<TreeChange> changes;
  changes.reserve(prepared.selection.taken.size());
  for (const Selection::Taken& taken : prepared.selection.taken) {
    changes.push_back(BAWN_TRY(ToTreeChange(source, base, taken)));
  }
  return changes;
}

// Content before the pointers to it.
Result<> StoreLfs(const PublishContext& context, const PreparedPublish& prepared) {
  review::Source source{prepared.set, context.meta, &context.repo};
  std::optional<LfsStore> store;
  for (const Selection::Taken& taken : prepared.selection.taken) {
    if (!taken.reviewed->lfs) continue;
    const workspace::Change& change = taken.reviewed->change;
    std::string bytes = BAWN_TRY(review::RawNew(source, change));
    if (bytes.empty()) continue;
    if (!store)
      store = BAWN_TRY(
          LfsStore::Open(context.repo, context.meta.common_dir, "bawn-" + context.meta.id));
    BAWN_CHECK_OK(store->Add(Sha256Hex(bytes), bytes));
  }
  return {};
}

// The commits made inside, and one more for what the tree holds beyond them.
Result<Published> AddCommits(const PublishContext& context, const PreparedPublish& prepared,
                             const PublishRequest& request, const git::Oid& tree) {
  Published published;
  published.ref = prepared.ref;
  const Inside& inside = prepared.inside;
  git::Oid parent = prepared.parent;
  if (!inside.tip.empty()) {
    BAWN_CHECK_OK(AddInside(context.repo, *prepared.stream, inside));
    parent = inside.written;
  }
  if (!inside.tip.empty() && inside.tree == tree) {
    published.commit = inside.written;
    published.parents = inside.commits.back().text.parents;
    published.message_unused = !request.message.empty();
    return published;
  }
  Result<std::string> message = CleanMessage(request.message);
  if (!message && !inside.tip.empty()) {
    message.error().message += ": not everything was committed inside";
  }
  if (!message) return std::unexpected(std::move(message).error());
  if (!parent.empty()) published.parents = {parent};
  published.commit = BAWN_TRY(context.repo.AddCommit(
      tree, published.parents, Now(request.author_name, request.author_email),
      Now(kCommitterName, kCommitterEmail), *message));
  return published;
}

Intent MakeIntent(const PreparedPublish& prepared, const git::Oid& commit) {
  Intent intent;
  intent.ref = prepared.ref;
  intent.commit = commit;
  intent.covers_all = prepared.selection.CoversAll();
  intent.update_tree = prepared.update_tree;
  intent.inside_tip = prepared.inside.tip;
  if (intent.covers_all && !intent.update_tree) return intent;
  for (const Selection::Taken& taken : prepared.selection.taken) {
    const workspace::Change& change = taken.reviewed->change;
    intent.carried.push_back({change.path, workspace::Fingerprint(change)});
  }
  return intent;
}

// Everything after the ref has moved; may be repeated. `prepared` is null when a killed run is
// taken up.
Result<std::optional<Applied>> FinishPublish(const PublishContext& context, const Intent& intent,
                                             const PreparedPublish* prepared) {
  std::optional<Applied> tree;
  if (intent.update_tree) tree = BAWN_TRY(FinishTreeUpdate(context, intent, prepared));
  if (intent.covers_all) {
    BAWN_CHECK_OK(EndSandbox(context.dir, context.meta, kPublished));
  } else {
    BAWN_CHECK_OK(RememberCarried(context.dir, intent.carried));
    if (context.meta.extra.AsObject() == nullptr) context.meta.extra = JsonObject();
    Json& branches = (*context.meta.extra.AsObject())["branches"];
    if (branches.AsObject() == nullptr) branches = JsonObject();
    (*branches.AsObject())[intent.ref] = intent.commit;
    RememberInside(context.meta, intent.ref, intent.inside_tip, intent.update_tree);
    if (intent.update_tree) context.meta.base_commit = intent.commit;  // what the tree now is
    ++context.meta.rev;
    BAWN_CHECK_OK(workspace::WriteMeta(context.dir, context.meta, true));
  }
  BAWN_CHECK_OK(RemoveIntent(context.dir));
  return tree;
}

Result<> MoveRef(const PublishContext& context, const PreparedPublish& prepared,
                 const Intent& intent) {
  if (intent.update_tree) BAWN_CHECK_OK(LockTreeUpdate(context));
  context.step();
  return context.repo.CompareAndSwapRef(prepared.ref, prepared.expected, intent.commit,
                                        "bawn publish: " + context.meta.name);
}

// Also an error can come after the rename (the directory's fsync, the reflog): then it has.
Result<bool> HasMoved(const PublishContext& context, const Intent& intent) {
  std::optional<git::Oid> now = BAWN_TRY(context.repo.ReadRef(intent.ref));
  return now && *now == intent.commit;
}

Result<> Forget(const PublishContext& context, const Intent& intent) {
  if (intent.update_tree) BAWN_CHECK_OK(AbandonTreeUpdate(context, intent));
  return RemoveIntent(context.dir);
}

}  // namespace

Result<Published> CommitPublish(const PublishContext& context, PreparedPublish& prepared,
                                const PublishRequest& request) {
  prepared.selection = BAWN_TRY(SelectForPublish(prepared, request));
  BAWN_CHECK_OK(CheckComplete(prepared.selection, Purpose::kPublish));
  UniqueFd lock = BAWN_TRY(LockRef(context.state, context.meta.common_dir, prepared.ref));

  git::Oid base;
  if (!prepared.parent.empty()) base = BAWN_TRY(context.repo.TreeOfCommit(prepared.parent));
  std::vector<TreeChange> changes = BAWN_TRY(MakeTreeChanges(context, prepared, base));
  git::Oid tree = BAWN_TRY(BuildTree(context.repo, base, changes));
  Published published = BAWN_TRY(AddCommits(context, prepared, request, tree));
  published.unsigned_although_asked = BAWN_TRY(context.repo.ConfigBool("commit.gpgsign", false));
  published.deploy = BAWN_TRY(DeployCommand(context.repo, prepared.ref, prepared.update_tree));
  context.step();
  BAWN_CHECK_OK(StoreLfs(context, prepared));
  BAWN_CHECK_OK(context.repo.WritePack("bawn-" + context.meta.id));
  context.step();
  Intent intent = MakeIntent(prepared, published.commit);
  if (intent.update_tree) intent.index_inode = BAWN_TRY(PrepareTreeUpdate(context, base, changes));
  BAWN_CHECK_OK(WriteIntent(context.dir, intent));
  context.step();
  Result<> moved = MoveRef(context, prepared, intent);
  if (!moved && !BAWN_TRY(HasMoved(context, intent))) {
    BAWN_CHECK_OK(Forget(context, intent));
    return std::unexpected(std::move(moved).error());
  }
  context.step();
  published.tree = BAWN_TRY(FinishPublish(context, intent, &prepared));
  published.ended = IsEnded(context.meta.state);
  return published;
}

Result<> RecoverPublish(const PublishContext& context) {
  std::optional<Intent> intent = BAWN_TRY(ReadIntent(context.dir));
  if (!intent) return {};
  // The move is a link and the end of the lock: it may be there in either case.
  BAWN_CHECK_OK(context.repo.ForgetRefLock(intent->ref, intent->commit, intent->written_at_ns));
  if (!BAWN_TRY(HasMoved(context, *intent))) return Forget(context, *intent);
  BAWN_CHECK_OK(FinishPublish(context, *intent, nullptr));
  return {};
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
  if (published.message_unused) {
    warnings.emplace_back("everything was committed inside: the message was not needed");
  }
  for (const Named& one : prepared.selection.builds) {
    warnings.emplace_back("runs when someone builds: " + EscapeName(one.path));
  }
  for (const Named& one : prepared.selection.notes) {
    warnings.emplace_back(EscapeName(one.path) + " " + one.reason);
  }
  json["warnings"] = std::move(warnings);
  json["squashed"] = prepared.squash;
  std::string branch = EscapeName(prepared.ref.substr(11));
  json["tree_changed"] = prepared.update_tree;
  json["deploy"] = published.deploy;
  if (prepared.update_tree) {
    json["left"] = LeftToJson(*published.tree);
    json["live"] = "branch " + branch + ", its index and its work tree hold the changes";
  } else {
    json["live"] = "branch " + branch + " holds the changes; no work tree and no index was touched";
  }
  json["ended"] = published.ended;
  json["state"] = meta.state;
  return json;
}

}  // namespace bawn::publish
