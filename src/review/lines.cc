#include "review/lines.h"

#include <algorithm>

namespace bawn::review {

namespace {

Result<bool> LooksBinary(const Source& source, const Reviewed& reviewed, std::string_view before,
                         std::string_view after) {
  if (source.repo != nullptr) {
    const git::Conversion how =
        BAWN_TRY(source.repo->ConversionOf(source.meta.base_commit, reviewed.change.path));
    if (how.binary) return true;
    if (how.text) return false;
  }
  return git::IsBinary(before) || git::IsBinary(after);
}

bool TooBig(const workspace::Change& change, bool old_side) {
  return (old_side ? change.old_size : change.new_size) > kFileBytesMax;
}

}  // namespace

const Reviewed& SourceOf(const Reviewed& reviewed, const std::vector<Reviewed>& sorted) {
  if (reviewed.old_path.empty()) return reviewed;
  const auto path = [](const Reviewed& item) -> const std::string& { return item.change.path; };
  const auto found = std::ranges::lower_bound(sorted, reviewed.old_path, {}, path);
  BAWN_ASSERT(found != sorted.end() && found->change.path == reviewed.old_path);
  return *found;
}

Result<LineDiff> DiffLines(const Source& source, const Reviewed& reviewed, const Reviewed& from,
                           uint32_t context_lines) {
  LineDiff result;
  if (TooBig(from.change, true) || TooBig(reviewed.change, false)) {
    result.diff.too_big = true;
    return result;
  }
  std::string before, after;
  if (reviewed.old_git_mode != 0) {
    auto content = OldContent(source, from);
    if (!content && content.error().kind == "denied") {
      result.unreadable = true;
      return result;
    }
    before = BAWN_TRY(std::move(content));
  }
  if (reviewed.new_git_mode != 0) after = BAWN_TRY(NewContent(source, reviewed));
  result.old_size = before.size();
  result.new_size = after.size();
  if (before == after) return result;
  result.binary = BAWN_TRY(LooksBinary(source, reviewed, before, after));
  if (!result.binary) result.diff = BAWN_TRY(git::DiffBuffers(before, after, context_lines));
  return result;
}

Result<> CountLines(const Source& source, std::vector<Reviewed>* paths) {
  for (Reviewed& reviewed : *paths) {
    const bool nothing = reviewed.old_git_mode == 0 && reviewed.new_git_mode == 0;
    if (reviewed.ignored || nothing || !reviewed.change.problem.empty()) continue;
    const LineDiff lines =
        BAWN_TRY(DiffLines(source, reviewed, SourceOf(reviewed, *paths), /*context_lines=*/0));
    reviewed.lines_added = lines.diff.added;
    reviewed.lines_removed = lines.diff.removed;
    reviewed.binary = lines.binary || lines.unreadable || lines.diff.too_big;
  }
  return {};
}

}  // namespace bawn::review
