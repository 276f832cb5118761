// publish/inside_judge.h
// What the host makes of the changes of each commit made inside. The final tree is reviewed and
// selected as always (publish/select.h); this is about what only the way to it holds: content that
// a later commit took away again, paths that no diff shows.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "publish/inside.h"
#include "publish/select.h"
#include "review/content.h"
#include "review/review.h"

namespace bawn::publish {

// Each needs a yes by name. kFailedPrecondition when something may not come along at all: aliases
// of .git, what a filter driver would have encrypted, what git ignores, the user's own uncommitted
// work.
Result<std::vector<Named>> JudgeInside(const review::Source& source,
                                       const git::ObjectStream& stream, const Inside& inside,
                                       const review::Review& review);

// Commits are carried whole: kFailedPrecondition when a path that one of them changes is refused,
// or only some paths were named. Adds the gates that have no yes to `selection`.
Result<> HoldInside(const Inside& inside, const std::vector<Named>& gates,
                    const SelectOptions& options, Selection& selection);

}  // namespace bawn::publish
