// policy/limits.h
// Limits: defaults, what the profile and the command line say, and what a level can hold of them
// (DESIGN 5). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/level.h"
#include "policy/policy.h"

namespace bawn::policy {

// Names as in profiles, options and receipts.
inline constexpr std::string_view kLimitNames[] = {"cpu",    "memory", "pids", "disk",
                                                   "inodes", "time",   "idle", "output"};

inline constexpr uint64_t kPidsDefault = 4096;                       // from `isolated` up
inline constexpr uint64_t kOutputBytesDefault = uint64_t{64} << 20;  // kept of each job

// `over` wins field by field; best_effort is the union.
Limits MergeLimits(const Limits& under, const Limits& over);

// Whether `level` holds the limit on the whole tree. Disk and inodes are held by the monitor from
// `restricted` up (approximate, which needs no word).
bool LevelHolds(plan::Level level, std::string_view limit);

// kUnavailable, with the remedy, for the first limit that is set, not held and not best effort;
// kInvalidArgument for zero or an unknown name in best_effort.
Result<> CheckLimits(const Limits& limits, plan::Level level);

bool IsBestEffort(const Limits& limits, std::string_view name);

}  // namespace bawn::policy
