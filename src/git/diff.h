// git/diff.h
// Line differences of two buffers by libgit2's xdiff: the same hunks as git's default algorithm.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bawn::git {

// Per side; beyond this a person does not read it either. xdiff's time grows faster than the number
// of lines when few of them are unique (a payload can choose that), not with their length.
inline constexpr uint64_t kDiffBytesMax = 8 << 20;
inline constexpr uint64_t kDiffLinesMax = 200'000;

struct BufferDiff {
  std::string hunks;  // "@@ -1,2 +1,3 @@ …" and lines with ' ', '+', '-', "\ No newline at …"
  uint64_t added = 0, removed = 0;
  bool too_big = false;  // a side is over a ceiling: hunks and counts are empty
};

// Both sides are taken as text; whether they are is the caller's to decide (IsBinary).
Result<BufferDiff> DiffBuffers(std::string_view before, std::string_view after,
                               uint32_t context_lines = 3);

// git's own guess: a NUL in the first 8,000 bytes.
bool IsBinary(std::string_view bytes);

}  // namespace bawn::git
