// cli/values.h
// Values of options, read strictly: no locale, no sign, no blanks, no guessing. Every error names
// the input, the rule and an example.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/table.h"

namespace bawn::cli {

inline constexpr uint64_t kSizeMax = uint64_t{1} << 60;                      // bytes
inline constexpr uint64_t kDurationMax = uint64_t{3650} * 24 * 3600 * 1000;  // ms: 3650d
inline constexpr uint64_t kCountMax = uint64_t{1} << 40;
inline constexpr uint64_t kCpusMax = 4'096'000;              // thousandths
inline constexpr uint64_t kFdMax = (uint64_t{1} << 30) - 1;  // fs.nr_open's own

// All return kInvalidArgument with a hint.
Result<uint64_t> ParseSize(std::string_view text);      // bytes, 1..kSizeMax; K M G T, KiB … TiB
Result<uint64_t> ParseDuration(std::string_view text);  // ms, 1..kDurationMax; ms s m h d
Result<uint64_t> ParseCount(std::string_view text);     // 1..kCountMax
Result<uint64_t> ParseCpus(std::string_view text);  // thousandths, 1..kCpusMax; at most 3 decimals
Result<uint64_t> ParseFd(std::string_view text);    // 0..kFdMax

// Checks `text` as a value of `kind`; the number for kinds that are one, else 0.
Result<uint64_t> CheckValue(Kind kind, std::string_view text);

}  // namespace bawn::cli
