// contain/canary.h
// The canaries of every run: the job's own child, behind its last wall and before exec, tries what
// must be refused and reports what it saw (DESIGN 5; at most 60 us in all). Measured, never
// inferred: a canary that errors in an unexpected way is `unknown`, which counts as failure.
// Enforced by: the walls themselves. Recorded as: layers "canary:<name>".
#pragma once

#include <vector>

#include "plan/plan.h"
#include "wire/control.h"

namespace bawn::contain {

// The name of pid 1 as its own /proc/1/comm shows it: init sets it. A witness whose number is in
// use inside the sandbox, too, is told apart by it.
inline constexpr char kInitName[] = "bawn-init";

// Runs all canaries for the level. Safe to call behind the seccomp filter: it only makes calls that
// the filter answers. Allocates (the caller is single-threaded and not a vfork child).
//   canary:write_outside     the host file opens for writing: ENOENT, EACCES or EROFS hold
//   canary:connect           192.0.2.1 and 2001:db8::1 (documentation: never a lease) and vsock;
//                            nothing is sent. At `restricted`, where the host's network is there,
//                            only the making of sockets is tried.
//   canary:host_pid          the witness by number and in /proc; not promised at `restricted`
//   canary:signal            kill(witness, 0) and kill(-1, 0)
//   canary:abstract_socket, canary:pathname_socket
//   canary:namespace         a user and mount namespace, refused in every profile
// At `none` every fact is kOff and nothing is tried. A target that is missing makes kUnknown. Where
// a wall is missing the attempt has succeeded: the caller must not go on to exec.
std::vector<wire::LayerFact> RunCanaries(const plan::CanaryTargets& targets, plan::Level level);

// True when no fact is kFailed or kUnknown.
bool AllHeld(const std::vector<wire::LayerFact>& facts);

}  // namespace bawn::contain
