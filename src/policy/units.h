// policy/units.h
// Sizes, times and counts as people write them, strictly: no sign, no space, no case-folding, no
// rounding; what overflows 64 bits is refused.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace bawn::policy {

// "512M", "2GiB", "4096": bytes. K, M, G, T with or without "iB" are powers of 1024. "MB" and its
// kin are refused, because they mean two things.
Result<uint64_t> ParseSize(std::string_view text);

// "250ms", "90s", "10m", "2h", "7d": milliseconds. A bare number is refused.
Result<uint64_t> ParseDuration(std::string_view text);

// "4096".
Result<uint64_t> ParseCount(std::string_view text);

// "2", "1.5", "0.25": thousandths of a CPU, at most three decimals, 0.001 to 4096.
Result<uint64_t> ParseCpus(std::string_view text);

}  // namespace bawn::policy
