// contain/set_id_filter.h
// A second, small filter for sandboxes that write straight to the host (--rw): what a job makes
// there belongs to the directory's owner, and must not be a program that runs as that owner for
// whoever starts it (RT-25). No mode with set-user-id or set-group-id can be given to a file.
// Decided in: policy/ (Plan::direct_writes). Enforced by: the kernel, per job, on top of the
// allowlist. Recorded as: layer "seccomp".
// NOT protected: set-group-id that a directory hands down to what is made in it.
#pragma once

#include <span>

#include "contain/seccomp.h"

namespace bawn::contain {

// Static storage. openat2 keeps its mode behind a pointer and does not exist here.
std::span<const BpfInstruction> SetIdProgram();

}  // namespace bawn::contain
