// contain/probe.h
// What this machine can do, found by doing it at the call; never cached, never by version. A probe
// that errors is `unknown` with its errno and counts as a failure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/level.h"

namespace bawn::contain {

struct ProbeFact {
  std::string name;    // "userns", "overlay_userxattr", "landlock", "seccomp", "proc", …
  std::string state;   // "ok" | "missing" | "unknown"
  std::string detail;  // "ABI 7", "clone3: EPERM"
  std::string remedy;  // exact words; never "switch the kernel protection off"
};

struct ProbeReport {
  std::vector<ProbeFact> facts;
  plan::Level highest = plan::Level::kNone;  // what the facts prove
};

// Forks children that try each feature; leaves nothing behind. Single-threaded callers only.
Result<ProbeReport> ProbeMachine();

}  // namespace bawn::contain
