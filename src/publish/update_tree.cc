#include "publish/update_tree.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "git/index_update.h"
#include "workspace/remembered.h"

namespace bawn::publish {
namespace {

std::string IndexName(const PublishContext& context) { return "bawn-" + context.meta.id; }

ApplyContext ToApply(const PublishContext& context) {
  return {context.state, context.dir, context.meta, context.step};
}

// The changes of the commit that the tree does not have yet. A directory goes with its last path.
std::vector<Chosen> StillToDo(const Intent& intent, const review::Review& review,
                              std::vector<Applied::Left>& left) {
  std::unordered_map<std::string_view, std::string_view> wanted;
  for (const CarriedPath& one : intent.carried) wanted[one.path] = one.fingerprint;
  std::vector<Chosen> chosen;
  for (const review::Reviewed& reviewed : review.paths) {
    const workspace::Change& change = reviewed.change;
    bool emptied = change.kind == workspace::ChangeKind::kDeleted && change.problem.empty() &&
                   change.old_type == workspace::EntryType::kDirectory && !change.diverged;
    auto found = wanted.find(change.path);
    bool ours = found != wanted.end() && found->second == workspace::Fingerprint(change);
    if (!ours && !emptied) continue;
    if (change.diverged && change.old_type != workspace::EntryType::kNone) {
      left.push_back({change.path, "diverged"});
    } else {
      chosen.push_back({&change, change.diverged});
    }
  }
  return chosen;
}

// What could not be read now is no reason to call the act finished without it: the next command
// takes it up again.
Result<> CheckReadable(const Intent& intent, const review::Review& review) {
  for (const review::Reviewed& reviewed : review.paths) {
    const workspace::Change& change = reviewed.change;
    bool wanted = std::ranges::any_of(
        intent.carried, [&](const CarriedPath& one) { return one.path == change.path; });
    if (!wanted || change.problem != "unreadable") continue;
    return Fail(ErrorCode::kSystem, EscapeName(change.path) + ": unreadable",
                "the commit is made; repeat the command to move the work tree, too");
  }
  return {};
}

Result<Applied> ApplyRest(const PublishContext& context, const Intent& intent,
                          const workspace::ChangeSet& set, const review::Review& review) {
  std::vector<Applied::Left> left;
  std::vector<Chosen> chosen = StillToDo(intent, review, left);
  Applied applied;
  if (!chosen.empty()) applied = BAWN_TRY(Apply(ToApply(context), set, chosen, false));
  std::erase_if(applied.left, [](const Applied::Left& one) { return one.why == "not_empty"; });
  applied.left.insert(applied.left.end(), left.begin(), left.end());
  return applied;
}

}  // namespace

Result<uint64_t> PrepareTreeUpdate(const PublishContext& context, const git::Oid& parent_tree,
                                   const std::vector<TreeChange>& changes) {
  std::vector<git::IndexChange> index;
  index.reserve(changes.size());
  for (const TreeChange& change : changes) {
    git::IndexChange one{change.path, {}, change.mode, change.oid};
    if (!parent_tree.empty()) {
      one.expected = BAWN_TRY(context.repo.FindInTree(parent_tree, change.path));
      // A directory in the commit is no entry of the index; its files are, and change apart.
      if (one.expected && one.expected->mode == git::FileMode::kTree) one.expected.reset();
    }
    index.push_back(std::move(one));
  }
  return git::PrepareIndex(context.meta.git_dir, IndexName(context), index);
}

Result<> LockTreeUpdate(const PublishContext& context) {
  return git::LockIndex(context.meta.git_dir, IndexName(context));
}

Result<> AbandonTreeUpdate(const PublishContext& context, const Intent& intent) {
  return git::AbandonIndex(context.meta.git_dir, IndexName(context), intent.index_inode);
}

Result<Applied> FinishTreeUpdate(const PublishContext& context, const Intent& intent,
                                 const PreparedPublish* prepared) {
  Result<Applied> applied;
  bool fresh = prepared != nullptr;
  if (fresh) applied = ApplyRest(context, intent, prepared->set, prepared->review);
  // Taken up later, or the user wrote into the tree just now: what is there is looked at again.
  if ((!fresh || !applied) && !IsEnded(context.meta.state)) {
    BAWN_CHECK_OK(Recover(ToApply(context)));
    workspace::ChangeSet set = BAWN_TRY(workspace::ReadChanges(context.dir, context.meta, {}));
    review::Review review = BAWN_TRY(review::MakeReview(set, context.meta, &context.repo, {}));
    BAWN_CHECK_OK(CheckReadable(intent, review));
    applied = ApplyRest(context, intent, set, review);
  }
  if (!applied) return applied;
  context.step();
  BAWN_CHECK_OK(git::FinishIndex(context.meta.git_dir, IndexName(context), intent.index_inode));
  return applied;
}

}  // namespace bawn::publish
