#include <algorithm>
#include <utility>

#include "base/text.h"
#include "publish/finish.h"
#include "publish/inside_judge.h"
#include "publish/publish.h"

namespace bawn::publish {
namespace {

Result<std::string> RefOf(const std::string& branch, const workspace::SandboxMeta& meta) {
  std::string name = branch.empty() ? "bawn/" + meta.name : branch;
  if (name.starts_with("refs/heads/")) name.erase(0, 11);
  // git's own rule for a branch (git-check-ref-format(1)): no option, no other namespace.
  bool good = !name.empty() && name.front() != '-' && name != "HEAD" && !name.starts_with("refs/");
  if (good) return "refs/heads/" + name;
  return Fail(ErrorCode::kInvalidArgument, "not a branch name: " + EscapeName(branch),
              "for example: --branch fix/contrast", "publish.branch");
}

// The commit that this sandbox last put on that branch; empty: none.
git::Oid LastPublished(const workspace::SandboxMeta& meta, const std::string& ref) {
  const Json* branches = meta.extra.Get("branches");
  return branches == nullptr ? git::Oid() : branches->GetString(ref);
}

// The one way onto a checked-out branch is --update-tree in its own tree.
Result<std::string> RefToUpdate(const PublishContext& context, const PublishRequest& request) {
  const std::string& here = context.meta.base_ref;
  std::string tree = here.empty() ? "" : BAWN_TRY(context.repo.CheckedOutAt(here));
  if (tree != context.meta.workspace_path) {
    return Fail(ErrorCode::kFailedPrecondition,
                "--update-tree moves the branch that is checked out here, and " +
                    (here.empty() ? "none was when the sandbox opened"
                                  : EscapeName(here.substr(11)) + " no longer is"),
                "publish to a branch, then: git merge BRANCH", "publish.update_tree");
  }
  if (request.branch.empty() || "refs/heads/" + request.branch == here) return here;
  return Fail(ErrorCode::kInvalidArgument,
              "--update-tree moves the branch that is checked out here, " +
                  EscapeName(here.substr(11)) + ", and --branch names another",
              "leave one of the two out", "publish.update_tree");
}

Result<> RefuseCheckedOut(git::Repo& repo, const std::string& ref) {
  std::string tree = BAWN_TRY(repo.CheckedOutAt(ref));
  if (tree.empty()) return {};
  std::string branch = ref.substr(11);
  return Fail(ErrorCode::kFailedPrecondition,
              "branch " + EscapeName(branch) + " is checked out in " + EscapeName(tree) +
                  ": moving it would make that work tree look reverted",
              "publish to another branch and `git merge` it; or --update-tree in that work tree",
              "publish.checked_out");
}

// Where the commit goes: on the base commit, or on what this sandbox published there before.
Result<> ChooseParent(const PublishContext& context, PreparedPublish& prepared) {
  git::Oid last = LastPublished(context.meta, prepared.ref);
  std::optional<git::Oid> now = BAWN_TRY(context.repo.ReadRef(prepared.ref));
  prepared.expected = now.value_or(git::Oid(git::kZeroOid));
  prepared.parent = context.meta.base_commit;
  if (!now) return {};
  if (*now == last || *now == context.meta.base_commit) {
    prepared.parent = *now;
    return {};
  }
  return Fail(ErrorCode::kConflict,
              "branch " + EscapeName(prepared.ref.substr(11)) + " is at " + now->substr(0, 12) +
                  ", which is neither the base of this sandbox nor what it published there",
              "publish to a new name: --branch NAME, then `git merge` or `git rebase` it",
              "publish.branch_moved");
}

// What this sandbox published stands for these commits inside (publish/finish.h, RememberInside).
void AddKnown(const workspace::SandboxMeta& meta, std::string_view key, Junction& junction) {
  const Json* all = meta.extra.Get("inside");
  const Json* known = all == nullptr ? nullptr : all->Get(key);
  if (known == nullptr || known->AsArray() == nullptr) return;
  for (const Json& one : *known->AsArray()) {
    if (one.AsString() != nullptr) junction.inside.push_back(*one.AsString());
  }
}

Junction JunctionOf(const workspace::SandboxMeta& meta, const PreparedPublish& prepared) {
  Junction junction;
  junction.outside = prepared.parent;
  if (!meta.base_commit.empty()) junction.inside.push_back(meta.base_commit);
  AddKnown(meta, kBaseKey, junction);
  if (prepared.parent != meta.base_commit) AddKnown(meta, prepared.ref, junction);
  return junction;
}

Result<> LookInside(const PublishContext& context, int objects_fd, PreparedPublish& prepared) {
  prepared.stream = BAWN_TRY(git::ObjectStream::Open(git::ObjectStream::FromFd(objects_fd), {}));
  prepared.inside =
      BAWN_TRY(ReadInside(context.repo, *prepared.stream, JunctionOf(context.meta, prepared)));
  prepared.inside_gates = BAWN_TRY(JudgeInside({prepared.set, context.meta, &context.repo},
                                               *prepared.stream, prepared.inside, prepared.review));
  return {};
}

JsonArray InsideToJson(const Inside& inside) {
  constexpr size_t kShownMax = 100;
  JsonArray rows;
  // The newest first, as git log has them.
  for (size_t i = inside.commits.size(); i-- > 0 && rows.size() < kShownMax;) {
    const InsideCommit& commit = inside.commits[i];
    const std::string& message = commit.text.message;
    JsonObject row;
    row["commit"] = commit.written;
    row["author"] = EscapeName(commit.text.author.who);
    row["subject"] = EscapeName(message.substr(0, std::min<size_t>(message.find('\n'), 200)));
    rows.emplace_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<git::Repo> OpenRepository(const workspace::SandboxMeta& meta) {
  if (!meta.git_dir.empty()) return git::Repo::Open(meta.git_dir);
  return Fail(ErrorCode::kFailedPrecondition,
              EscapeName(meta.workspace_path) + " is not a git work tree",
              "`bawn apply` writes the changes into the directory itself", "publish.no_repository");
}

Result<Selection> SelectForPublish(const PreparedPublish& prepared, const PublishRequest& request) {
  // Onto the tree itself nothing goes where the user has work of his own.
  SelectOptions options{Purpose::kPublish, request.paths, request.yes_paths,
                        request.include_dirty && !request.update_tree};
  if (prepared.merges) options.merges = &*prepared.merges;
  for (const Touched& one : prepared.inside.touched) options.also_known.push_back(one.path);
  Selection selection = BAWN_TRY(Select(prepared.review, options));
  BAWN_CHECK_OK(HoldInside(prepared.inside, prepared.inside_gates, options, selection));
  return selection;
}

Result<PreparedPublish> PreparePublish(const PublishContext& context,
                                       const PublishRequest& request) {
  PreparedPublish prepared;
  prepared.update_tree = request.update_tree;
  if (request.update_tree) {
    prepared.ref = BAWN_TRY(RefToUpdate(context, request));
  } else {
    prepared.ref = BAWN_TRY(RefOf(request.branch, context.meta));
    BAWN_CHECK_OK(RefuseCheckedOut(context.repo, prepared.ref));
  }
  BAWN_CHECK_OK(ChooseParent(context, prepared));
  prepared.set = BAWN_TRY(workspace::ReadChanges(context.dir, context.meta, {}));
  prepared.review =
      BAWN_TRY(review::MakeReview(prepared.set, context.meta, &context.repo, {.lfs = request.lfs}));
  prepared.squash = request.squash;
  if (request.objects_fd >= 0 && !request.squash) {
    BAWN_CHECK_OK(LookInside(context, request.objects_fd, prepared));
  }
  if (request.merge) {
    prepared.merges =
        BAWN_TRY(MergeDiverged({prepared.set, context.meta, &context.repo}, prepared.review));
  }
  prepared.selection = BAWN_TRY(SelectForPublish(prepared, request));
  return prepared;
}

JsonObject ToJson(const PreparedPublish& prepared) {
  JsonObject json = ToJson(prepared.selection);
  json["digest"] = prepared.review.digest;
  json["ref"] = prepared.ref;
  json["branch"] = EscapeName(prepared.ref.substr(11));
  if (prepared.squash) {
    json["inside_commits"] = nullptr;  // never looked at
  } else {
    json["inside_commits"] = prepared.inside.commits.size();
  }
  json["inside"] = InsideToJson(prepared.inside);
  json["base_changed_since_open"] = prepared.review.base_changed_since_open;
  return json;
}

}  // namespace bawn::publish
