// git/merge.h
// Three-way merge of one file's text, as `git merge-file` does it. No markers are ever made: what
// both sides changed in different ways is no result.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bawn::git {

// Absent: both sides changed the same lines, or one of the three is binary or too large to compare
// (the ceilings of git/diff.h).
Result<std::optional<std::string>> MergeTexts(std::string_view base, std::string_view ours,
                                              std::string_view theirs);

}  // namespace bawn::git
