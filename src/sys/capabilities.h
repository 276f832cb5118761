// sys/capabilities.h
// Capability sets of the calling thread. A process that has just made a user namespace holds all of
// them there; exec as an inner id other than 0 would drop them, so the ones that pid 1 needs cross
// exec as ambient capabilities and are all cleared at the end.
// Threads: per thread; callers are single-threaded. Sources: capabilities(7), capset(2), prctl(2).
#pragma once

#include <cstdint>

#include "base/result.h"

namespace bawn::sys {

struct CapabilitySets {
  uint64_t effective = 0;
  uint64_t permitted = 0;
  uint64_t inheritable = 0;
  uint64_t ambient = 0;
  uint64_t bounding = 0;
  bool Empty() const { return (effective | permitted | inheritable | ambient | bounding) == 0; }
};

Result<CapabilitySets> ReadCapabilities();  // asks the kernel set by set
Result<> RaiseAmbientCapabilities();        // every permitted capability: inheritable and ambient
// The bounding set first (CAP_SETPCAP), then effective, permitted, inheritable, and with them
// ambient.
Result<> DropAllCapabilities();

// prctl(PR_GET_SECCOMP): 2 behind a filter, 0 without; -1 on error.
int SeccompMode();

}  // namespace bawn::sys
