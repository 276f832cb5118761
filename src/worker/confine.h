// worker/confine.h
// bawn-worker's own walls, raised before it reads anything that a payload wrote: it parses hostile
// names, content and objects with the caller's rights (DESIGN 4), so these are cut down to what its
// ops need. From then on it can write only below the given directories, start no program, make no
// process and no socket, and touch no other process.
// Decided in: nowhere, it is always the same. Enforced by: the kernel (Landlock, seccomp). Recorded
// as: `confined` in the worker's answer: what the kernel took; a kernel without Landlock (or with
// ABI 1, which forbids every rename across directories) leaves the rest in force.
// NOT protected: reading. The user's git configuration may include any file of his, so the whole
// view stays readable; there is no way out for what is read but the answer and the text.
// Threads: binds the calling thread only; the program has one.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace bawn::worker {

struct Confined {
  bool landlock = false;
  bool seccomp = false;
};
JsonObject ToJson(const Confined& confined);

// A path that does not exist is left out: nothing can be written there.
Result<Confined> Confine(const std::vector<std::string>& writable);

}  // namespace bawn::worker
