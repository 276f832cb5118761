// plan/outcome.h
// How a job ended. A job killed by a limit is a successful run of ours: an Outcome, not an Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bawn::plan {

enum class OutcomeKind : uint8_t {
  kExited,
  kSignaled,
  kKilled,
  kCancelled,
  kInterrupted,
  kSetupFailed
};
enum class KilledBy : uint8_t {
  kNothing,
  kTimeout,
  kIdleTimeout,
  kMemory,
  kPids,
  kDisk,
  kInodes,
  kOutput
};

constexpr std::string_view OutcomeKindName(OutcomeKind kind) {
  constexpr std::string_view kNames[] = {"exited",    "signaled",    "killed",
                                         "cancelled", "interrupted", "setup_failed"};
  return kNames[static_cast<uint8_t>(kind)];
}
// Empty for kNothing (null in JSON).
constexpr std::string_view KilledByName(KilledBy by) {
  constexpr std::string_view kNames[] = {"",     "timeout", "idle_timeout", "memory",
                                         "pids", "disk",    "inodes",       "output"};
  return kNames[static_cast<uint8_t>(by)];
}

struct Outcome {
  OutcomeKind kind = OutcomeKind::kSetupFailed;
  int exit_code = 0;  // kExited
  int signal = 0;     // kSignaled
  KilledBy killed_by = KilledBy::kNothing;
  std::string hint;           // one sentence for people; empty when there is nothing to add
  std::string caused_by_job;  // another job's kill ended this one
};

}  // namespace bawn::plan
