// review/renames.h
// Which added path is a deleted one under a new name: first equal content, then similar content,
// as git's diffcore-rename scores it (50 percent). Bounded: beyond the limits below only equal
// content counts, and nothing is guessed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "review/content.h"
#include "review/review.h"

namespace bawn::review {

inline constexpr size_t kRenamePairsMax = 100'000;     // compared with each other: 0.5 s at worst
inline constexpr uint64_t kRenameBytesMax = 64 << 20;  // read for comparison, both sides
inline constexpr uint32_t kSimilarityPercentMin = 50;

// Sets old_path, new_path, similarity, and the old side of each new name. `paths` is sorted.
Result<> FindRenames(const Source& source, std::vector<Reviewed>* paths);

// 0 … 100; 100 only for equal content.
uint32_t Similarity(std::string_view before, std::string_view after);

}  // namespace bawn::review
