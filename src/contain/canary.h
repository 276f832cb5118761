// contain/canary.h
// The canaries of every run: the job's own child, behind its last wall and before exec, tries what
// must be refused and reports what it saw (DESIGN 5; at most 60 us in all). Measured, never
// inferred: a canary that errors in an unexpected way is `unknown`, which counts as failure.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "wire/control.h"

namespace bawn::contain {

// Runs all canaries for the level. Safe to call behind the seccomp filter: it only makes calls that
// the filter answers. Allocates (the caller is single-threaded and not a vfork child).
std::vector<wire::LayerFact> RunCanaries(const plan::CanaryTargets& targets, plan::Level level);

// True when no fact is kFailed or kUnknown.
bool AllHeld(const std::vector<wire::LayerFact>& facts);

}  // namespace bawn::contain
