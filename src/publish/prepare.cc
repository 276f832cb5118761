#include <utility>

#include "base/text.h"
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

}  // namespace

Result<git::Repo> OpenRepository(const workspace::SandboxMeta& meta) {
  if (!meta.git_dir.empty()) return git::Repo::Open(meta.git_dir);
  return Fail(ErrorCode::kFailedPrecondition,
              EscapeName(meta.workspace_path) + " is not a git work tree",
              "`bawn apply` writes the changes into the directory itself", "publish.no_repository");
}

SelectOptions OptionsOf(const PublishRequest& request) {
  // Onto the tree itself nothing goes where the user has work of his own.
  return {Purpose::kPublish, request.paths, request.yes_paths,
          request.include_dirty && !request.update_tree};
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
  prepared.review = BAWN_TRY(review::MakeReview(prepared.set, context.meta, &context.repo, {}));
  SelectOptions options = OptionsOf(request);
  prepared.selection = BAWN_TRY(Select(prepared.review, options));
  return prepared;
}

JsonObject ToJson(const PreparedPublish& prepared) {
  JsonObject json = ToJson(prepared.selection);
  json["digest"] = prepared.review.digest;
  json["ref"] = prepared.ref;
  json["branch"] = EscapeName(prepared.ref.substr(11));
  json["base_changed_since_open"] = prepared.review.base_changed_since_open;
  return json;
}

}  // namespace bawn::publish
