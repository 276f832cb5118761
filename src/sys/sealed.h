// sys/sealed.h
// Memory files: reading what crosses between our processes in a sealed one, and what files in
// memory can do here. Source: memfd_create(2).
#pragma once

#include <string>

#include "base/result.h"

namespace bawn::sys {

// The whole file from its start, by pread: the offset is shared with whoever made it. Larger than
// `bytes_max` is kResourceExhausted.
Result<std::string> ReadWhole(int fd, size_t bytes_max);

// Does a file in memory keep user.* attributes (tmpfs since Linux 6.6)? Without them it cannot hold
// an unprivileged overlay's changes. Asked by setting one.
bool MemoryKeepsUserAttributes();

}  // namespace bawn::sys
