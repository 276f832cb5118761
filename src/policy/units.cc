#include "policy/units.h"

#include <charconv>
#include <string>

#include "base/text.h"

namespace bawn::policy {
namespace {

constexpr size_t kShownBytesMax = 40;
constexpr uint64_t kCpusMilliMax = 4'096'000;

std::unexpected<Error> Bad(std::string_view text, std::string_view what, std::string hint) {
  std::string shown = EscapeName(text.substr(0, kShownBytesMax));
  return Fail(ErrorCode::kInvalidArgument, "'" + shown + "' is no " + std::string(what),
              std::move(hint), "units");
}

// Takes the digits at the front; false when there are none or they overflow.
bool TakeNumber(std::string_view* text, uint64_t* number) {
  const char* end = text->data() + text->size();
  auto [rest, error] = std::from_chars(text->data(), end, *number);
  if (error != std::errc() || rest == text->data()) return false;
  text->remove_prefix(static_cast<size_t>(rest - text->data()));
  return true;
}

struct Unit {
  std::string_view word;
  uint64_t factor;
};

constexpr Unit kSizeUnits[] = {
    {"", 1},
    {"K", uint64_t{1} << 10},
    {"KiB", uint64_t{1} << 10},
    {"M", uint64_t{1} << 20},
    {"MiB", uint64_t{1} << 20},
    {"G", uint64_t{1} << 30},
    {"GiB", uint64_t{1} << 30},
    {"T", uint64_t{1} << 40},
    {"TiB", uint64_t{1} << 40},
};
constexpr Unit kTimeUnits[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000},
};

template <size_t N>
Result<uint64_t> ParseWithUnit(std::string_view text, const Unit (&units)[N], std::string_view what,
                               const std::string& hint) {
  std::string_view rest = text;
  uint64_t number = 0;
  if (!TakeNumber(&rest, &number)) return Bad(text, what, hint);
  for (const Unit& unit : units) {
    if (rest != unit.word) continue;
    uint64_t value = 0;
    if (__builtin_mul_overflow(number, unit.factor, &value)) {
      return Bad(text, std::string(what) + " below 2^64", hint);
    }
    return value;
  }
  return Bad(text, what, hint);
}

}  // namespace

Result<uint64_t> ParseSize(std::string_view text) {
  return ParseWithUnit(text, kSizeUnits, "size",
                       "write a number with K, M, G or T, as 512M or 2GiB");
}

Result<uint64_t> ParseDuration(std::string_view text) {
  return ParseWithUnit(text, kTimeUnits, "time", "write a number with ms, s, m, h or d, as 90s");
}

Result<uint64_t> ParseCount(std::string_view text) {
  std::string_view rest = text;
  uint64_t number = 0;
  if (!TakeNumber(&rest, &number) || !rest.empty()) {
    return Bad(text, "whole number", "write digits only");
  }
  return number;
}

Result<uint64_t> ParseCpus(std::string_view text) {
  std::string hint = "write a number of CPUs, as 2 or 1.5";
  std::string_view rest = text;
  uint64_t whole = 0, part = 0;
  if (!TakeNumber(&rest, &whole) || whole > kCpusMilliMax / 1000) {
    return Bad(text, "number of CPUs", hint);
  }
  if (!rest.empty()) {
    size_t decimals = rest.size() - 1;
    if (rest[0] != '.' || decimals < 1 || decimals > 3) return Bad(text, "number of CPUs", hint);
    rest.remove_prefix(1);
    if (!TakeNumber(&rest, &part) || !rest.empty()) return Bad(text, "number of CPUs", hint);
    for (; decimals < 3; ++decimals) part *= 10;
  }
  uint64_t milli = whole * 1000 + part;
  if (milli == 0 || milli > kCpusMilliMax) return Bad(text, "number of CPUs", hint);
  return milli;
}

}  // namespace bawn::policy
