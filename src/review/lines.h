// review/lines.h
// The line difference of one reviewed path.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/diff.h"
#include "review/content.h"
#include "review/review.h"

namespace bawn::review {

struct LineDiff {
  git::BufferDiff diff;
  bool binary = false;                  // by attribute, or by a NUL as git guesses
  bool unreadable = false;              // the old content may not be read
  uint64_t old_size = 0, new_size = 0;  // as git would store them
};

// `from` is the path that the old side comes from: `reviewed` itself, or the source of its rename.
// Null sides (a deletion, an addition) are chosen by the git modes.
Result<LineDiff> DiffLines(const Source& source, const Reviewed& reviewed, const Reviewed& from,
                           uint32_t context_lines);

// The source of a rename; `reviewed` itself where there is none.
const Reviewed& SourceOf(const Reviewed& reviewed, const std::vector<Reviewed>& sorted);

// Fills lines_added, lines_removed and binary of everything that is not ignored.
Result<> CountLines(const Source& source, std::vector<Reviewed>* paths);

}  // namespace bawn::review
