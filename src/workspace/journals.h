// workspace/journals.h
// What applies replaced in the tree is kept for `apply --undo`, and goes after its time. The
// journal itself is publish/journal.h's.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "workspace/state.h"

namespace bawn::workspace {

// The last line of the log of an apply of which nothing is left to do.
inline constexpr char kJournalFinished[] = "F";

// Removes the journals that were finished before `cutoff_ns`, and returns when the oldest finished
// one that stays was; an unfinished one is for the next command that uses the sandbox, unless that
// has `ended`. Under the sandbox's lock.
Result<std::optional<int64_t>> RemoveOldJournals(const SandboxDir& dir, bool ended,
                                                 int64_t cutoff_ns);

}  // namespace bawn::workspace
