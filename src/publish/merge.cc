#include "publish/merge.h"

#include <optional>
#include <utility>

#include "git/merge.h"
#include "review/base_tree.h"

namespace bawn::publish {
namespace {

bool IsFile(git::FileMode mode) {
  return mode == git::FileMode::kFile || mode == git::FileMode::kExecutable;
}

bool Candidate(const review::Reviewed& reviewed) {
  const workspace::Change& change = reviewed.change;
  return change.diverged && change.problem.empty() && !reviewed.ignored &&
         reviewed.refused.empty() && reviewed.gate.kind != plan::GateKind::kNever &&
         change.old_type == workspace::EntryType::kFile &&
         change.new_type == workspace::EntryType::kFile &&
         change.old_size <= review::kFileBytesMax && change.new_size <= review::kFileBytesMax;
}

// The bit that one side changed against the base.
void MergeModes(const workspace::Change& change, git::FileMode base, Merged& merged) {
  bool was = base == git::FileMode::kExecutable;
  bool inside = (change.new_mode & 0100) != 0;
  merged.mode = (inside != was ? change.new_mode : change.old_mode) & 0777;
  merged.git_mode = (merged.mode & 0100) != 0 ? git::FileMode::kExecutable : git::FileMode::kFile;
}

}  // namespace

Result<Merges> MergeDiverged(const review::Source& source, const review::Review& review) {
  Merges merges;
  if (source.repo == nullptr) return merges;
  const git::Oid& commit = source.meta.base_commit;
  review::BaseTree base = BAWN_TRY(review::BaseTree::Open(source.repo, commit));
  for (const review::Reviewed& reviewed : review.paths) {
    if (!Candidate(reviewed)) continue;
    const std::string& path = reviewed.change.path;
    const git::TreeEntry* entry = BAWN_TRY(base.Find(path));
    bool tracked = entry != nullptr && IsFile(entry->mode);
    if (!tracked || !BAWN_TRY(review::IsConverted(source, reviewed))) continue;
    std::string before = BAWN_TRY(source.repo->ReadBlob(entry->oid, review::kFileBytesMax));
    std::string ours = BAWN_TRY(review::OldContent(source, reviewed));
    std::string theirs = BAWN_TRY(review::NewContent(source, reviewed));
    std::optional<std::string> blob = BAWN_TRY(git::MergeTexts(before, ours, theirs));
    if (!blob) {
      merges.conflicts[path] = "was changed in the workspace too, in the same lines";
      continue;
    }
    Merged merged;
    merged.file = BAWN_TRY(source.repo->ToWorkTree(commit, path, *blob));
    if (BAWN_TRY(source.repo->ToGit(commit, path, merged.file)) != *blob) {
      merges.conflicts[path] = "was changed in the workspace too, and its line ends are mixed";
      continue;
    }
    merged.blob = *std::move(blob);
    MergeModes(reviewed.change, entry->mode, merged);
    merges.done.emplace(path, std::move(merged));
  }
  return merges;
}

}  // namespace bawn::publish
