#include "review/review.h"

#include <algorithm>

#include "review/content.h"
#include "review/judge.h"
#include "review/lines.h"
#include "review/renames.h"

namespace bawn::review {
namespace {

bool IsWanted(std::string_view path, const std::vector<std::string>& prefixes) {
  if (prefixes.empty()) return true;
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) {
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
    return prefix.empty() || prefix == "." || path == prefix ||
           (path.size() > prefix.size() && path.starts_with(prefix) && path[prefix.size()] == '/');
  });
}

// The sandbox changed it on disk, and git could not tell: nothing to show or to commit.
bool IsEqualForGit(const Reviewed& reviewed) {
  return !reviewed.ignored && reviewed.refused.empty() &&
         reviewed.gate.kind != plan::GateKind::kNever && reviewed.old_git_mode != 0 &&
         reviewed.old_git_mode == reviewed.new_git_mode && !reviewed.new_oid.empty() &&
         reviewed.old_oid == reviewed.new_oid;
}

}  // namespace

Result<Review> MakeReview(const workspace::ChangeSet& set, const workspace::SandboxMeta& meta,
                          git::Repo* repo, const ReviewOptions& options) {
  Review review;
  review.digest = set.digest;
  review.base_changed_since_open = set.base_changed_since_open;
  const Source source{.set = set, .meta = meta, .repo = repo};
  Judge::Settings settings = BAWN_TRY(Judge::ReadSettings(repo, options.names_only));
  settings.lfs = options.lfs;
  const workspace::Remembered nothing;
  const workspace::Divergence divergence =
      BAWN_TRY(workspace::Divergence::Make(meta, set.lower.get(), nothing));
  Judge judge(source, settings, BAWN_TRY(BaseTree::Open(repo, meta.base_commit)), divergence);
  for (const workspace::Change& change : set.changes) {
    if (!IsWanted(change.path, options.paths)) continue;
    Reviewed reviewed = BAWN_TRY(judge.Path(change));
    if (reviewed.ignored) ++review.ignored_count;
    if (IsEqualForGit(reviewed)) {  // never where nothing was compared
      review.equal.push_back(change.path);
      continue;
    }
    if (reviewed.dirty_base) review.base_dirty.push_back(change.path);
    review.paths.push_back(std::move(reviewed));
  }
  if (options.names_only) return review;
  BAWN_CHECK_OK(FindRenames(source, &review.paths));
  if (options.stat) BAWN_CHECK_OK(CountLines(source, &review.paths));
  return review;
}

}  // namespace bawn::review
