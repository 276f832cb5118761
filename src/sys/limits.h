// sys/limits.h
// Resource limits of the calling process. Source: getrlimit(2).
#pragma once

#include <cstdint>

#include "base/result.h"

namespace bawn::sys {

enum class Limit { kCore, kOpenFiles, kProcesses, kAddressSpace, kFileSize };

// Sets soft and hard to `value`, or to the present hard limit where that is lower (it can only be
// raised with CAP_SYS_RESOURCE in the first user namespace).
Result<> LowerLimit(Limit limit, uint64_t value);

}  // namespace bawn::sys
