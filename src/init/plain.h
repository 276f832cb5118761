// init/plain.h
// Levels without namespaces. `restricted`: Landlock and seccomp on the host's own tree; this
// process is no pid 1 but the subreaper of everything it starts, and in a Landlock domain of scopes
// itself, so that its kill(-1) reaches exactly the sandbox (RT-14) and never the rest of the user's
// processes. `none`: no wall at all; only the end of the tree is ours.
// Privilege on entry: the user's own, none above it; never host root.
// Decided in: policy/compile. Enforced by: Landlock, seccomp. Recorded as: "caps", "scope", or the
// layers that are off.
#pragma once

#include <string>

#include "base/result.h"
#include "init/build.h"
#include "plan/plan.h"

namespace bawn::init {

// As Build. Also sets the canaries' witness to the process that started this one: it is alive as
// long as this sandbox may run, and outside of it.
Result<Built> BuildPlain(plan::Plan* plan, std::string* stage);

}  // namespace bawn::init
