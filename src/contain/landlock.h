// contain/landlock.h
// Landlock domains (landlock(7), ABI 7 here, probed at run time; constants newer than the headers
// are defined in landlock.cc). File rights and both scopes; TCP rights only at `restricted` (RT-21).
// Decided in: policy/compile. Enforced by: the kernel, per job. Recorded as: layer "landlock".
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"

namespace bawn::contain {

// The running kernel's ABI; 0 when there is no Landlock. By asking the kernel at the call.
int LandlockAbi();

// A ruleset for the job's files and both scopes, built from descriptors of the *new* tree (after
// pivot_root). Rules whose path does not exist are left out. kUnavailable below ABI 6 (no scopes).
Result<UniqueFd> BuildFileRuleset(const std::vector<plan::LandlockRule>& rules);

// A ruleset with scopes only: the guard's domain, from which the job's own domain is nested, so that
// the guard can signal the job and the job cannot signal the guard (RT-14).
Result<UniqueFd> BuildScopeRuleset();

// Restricts the calling thread (no_new_privs must be set). Async-signal-safe: 0 or errno.
int EnterRuleset(int ruleset_fd);

}  // namespace bawn::contain
