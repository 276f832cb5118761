// contain/landlock.h
// Landlock domains (landlock(7), ABI 7 here, probed at the call; constants newer than the build's
// headers are in sys/landlock.h). File rights and both scopes; TCP rights only at `restricted`
// (RT-21: handled at `isolated` they would refuse bind to loopback; there the network namespace is
// the wall).
// Decided in: policy/compile. Enforced by: the kernel, per job. Recorded as: layer "landlock".
// NOT protected by a domain: stat, chmod and access of any path, UDP, connecting to a pathname
// socket (RT-05, RT-12), descriptors opened before it was entered.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/level.h"
#include "plan/plan.h"

namespace bawn::contain {

// The running kernel's ABI; 0 when there is no Landlock. By asking the kernel at the call.
int LandlockAbi();

// A ruleset for the job's files and both scopes, built from descriptors of the *new* tree (after
// pivot_root). Everything that no rule grants is refused with EACCES; making device nodes is
// granted by none. A rule whose path does not exist, cannot be reached or leads through a symlink
// is left out: it grants nothing. At `restricted` every TCP bind and connect is refused too.
// kUnavailable below ABI 6 (no scopes).
Result<UniqueFd> BuildFileRuleset(const std::vector<plan::LandlockRule>& rules,
                                  plan::Level level = plan::Level::kIsolated);

// A ruleset with scopes only: the guard's domain, from which the job's own domain is nested, so
// that the guard can signal the job and the job cannot signal the guard (RT-14).
Result<UniqueFd> BuildScopeRuleset();

// Restricts the calling thread (no_new_privs must be set). Async-signal-safe: 0 or errno.
int EnterRuleset(int ruleset_fd);

}  // namespace bawn::contain
