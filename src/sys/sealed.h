// sys/sealed.h
// Reading what crosses between our processes in a sealed memfd. Source: memfd_create(2).
#pragma once

#include <string>

#include "base/result.h"

namespace bawn::sys {

// The whole file from its start, by pread: the offset is shared with whoever made it. Larger than
// `bytes_max` is kResourceExhausted.
Result<std::string> ReadWhole(int fd, size_t bytes_max);

}  // namespace bawn::sys
