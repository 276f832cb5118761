// init/end.h
// The end of everything in a sandbox, by the process that started it all.
// isolated, bounded  it is pid 1: its exit takes the namespace with it (pid_namespaces(7))
// restricted         kill(-1) within its own Landlock domain of scopes, then every orphan is reaped
// none               its descendants (it is their subreaper), stopped first so that none outruns it
// Decided in: the end of the control socket. Enforced by: the kernel's signals, in these bounds.
// Recorded as: `remaining`, by the keeper, when this takes longer than its deadline.
// NOT protected: at `none` a payload may kill this process, and outlives it.
#pragma once

#include "plan/level.h"

namespace bawn::init {

inline constexpr int kEndDeadlineMs = 4500;  // within the 5 s that the keeper waits

[[noreturn]] void EndTree(plan::Level level, int exit_code);

}  // namespace bawn::init
