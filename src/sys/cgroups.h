// sys/cgroups.h
// What control groups need of the kernel beside files: a child born in a group, and a counter that
// the kernel raises. Sources: clone3(2) CLONE_INTO_CGROUP, eventfd(2), cgroups(7).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/processes.h"

namespace bawn::sys {

// As Clone3; with a descriptor of a v2 group (-1: none) the child is in it from its first moment,
// without the migration of a running process, which waits for an RCU grace period (10 ms here).
Result<Child> Clone3Into(uint64_t flags, int cgroup_fd);

Result<UniqueFd> EventFd();  // non-blocking

}  // namespace bawn::sys
