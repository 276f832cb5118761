#include "cli/values.h"

#include <charconv>
#include <optional>
#include <vector>

#include "base/text.h"

namespace bawn::cli {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};
constexpr Unit kSizes[] = {
    {"", 1},
    {"K", uint64_t{1} << 10},
    {"M", uint64_t{1} << 20},
    {"G", uint64_t{1} << 30},
    {"T", uint64_t{1} << 40},
    {"KiB", uint64_t{1} << 10},
    {"MiB", uint64_t{1} << 20},
    {"GiB", uint64_t{1} << 30},
    {"TiB", uint64_t{1} << 40},
};
constexpr Unit kTimes[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000},
};

constexpr std::string_view kSizeHint =
    "a size is a whole number of bytes, or with K, M, G, T or KiB, MiB, GiB, TiB (powers of 1024): "
    "512M, 2GiB";
constexpr std::string_view kTimeHint =
    "a time is a whole number with its unit, ms, s, m, h or d: 90s, 10m";
constexpr std::string_view kCountHint = "a count is a whole number from 1 to 1099511627776: 200";
constexpr std::string_view kCpusHint =
    "a number of processors is above 0 and at most 4096, with at most three decimals: 2, 1.5";

std::unexpected<Error> Bad(std::string_view text, std::string_view what, std::string_view hint) {
  return Fail(ErrorCode::kInvalidArgument, "'" + EscapeName(text) + "' is not " + std::string(what),
              std::string(hint));
}

// The digits at the start of `text`, removed from it. Absent when there are none or too many.
std::optional<uint64_t> TakeDigits(std::string_view* text) {
  uint64_t value = 0;
  auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  return value;
}

// A number times the unit that follows it, from 1 to `max`.
template <size_t N>
std::optional<uint64_t> TakeQuantity(std::string_view text, const Unit (&units)[N], uint64_t max) {
  std::optional<uint64_t> number = TakeDigits(&text);
  if (!number || *number == 0) return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.name != text) continue;
    if (*number > max / unit.factor) return std::nullopt;
    return *number * unit.factor;
  }
  return std::nullopt;
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// A sandbox's name becomes part of a branch name and of commands: a plain word
// (git-check-ref-format).
Result<uint64_t> CheckName(std::string_view text) {
  bool good = !text.empty() && text.size() <= 63 && text[0] != '-' && !text.starts_with("sb_");
  for (char c : text) good = good && IsNameCharacter(c);
  if (good) return 0;
  return Bad(
      text, "a name for a sandbox",
      "a name has 1 to 63 of a-z, 0-9, - and _, and starts with neither - nor sb_: fix-contrast");
}

Result<uint64_t> CheckEnvName(std::string_view text) {
  if (!text.empty() && text.find('=') == std::string_view::npos) return 0;
  return Bad(text, "the name of an environment variable", "only the name, without '=': LANG");
}

Result<uint64_t> CheckEnvSet(std::string_view text) {
  if (text.find('=') != std::string_view::npos && text[0] != '=') return 0;
  return Bad(text, "NAME=VALUE",
             "write --env CI=1; --pass-env NAME passes the value that you have");
}

// `text` is one of the words of `kind`.
Result<uint64_t> CheckWord(Kind kind, std::string_view text, std::string_view what) {
  std::vector<std::string_view> words(Words(kind).begin(), Words(kind).end());
  std::string all;
  for (std::string_view word : words) {
    if (word == text) return 0;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  std::string near = Nearest(text, words);
  return Bad(text, what, (near.empty() ? "" : "did you mean " + near + "? ") + "one of: " + all);
}

Result<uint64_t> CheckLimits(std::string_view text) {
  while (true) {
    size_t comma = text.find(',');
    BAWN_CHECK_OK(
        CheckWord(Kind::kLimits, text.substr(0, comma), "a limit that can be best effort"));
    if (comma == std::string_view::npos) return 0;
    text.remove_prefix(comma + 1);
  }
}

Result<uint64_t> CheckDigest(std::string_view text) {
  if (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
    return 0;
  }
  return Bad(text, "a digest of changes",
             "it has 64 hexadecimal digits; `bawn diff --digest` prints it");
}

}  // namespace

Result<uint64_t> ParseSize(std::string_view text) {
  std::optional<uint64_t> bytes = TakeQuantity(text, kSizes, kSizeMax);
  if (!bytes) return Bad(text, "a size", kSizeHint);
  return *bytes;
}

Result<uint64_t> ParseDuration(std::string_view text) {
  std::optional<uint64_t> ms = TakeQuantity(text, kTimes, kDurationMax);
  if (!ms) return Bad(text, "a time up to 3650d", kTimeHint);
  return *ms;
}

Result<uint64_t> ParseCount(std::string_view text) {
  std::string_view rest = text;
  std::optional<uint64_t> count = TakeDigits(&rest);
  if (!count || !rest.empty() || *count == 0 || *count > kCountMax) {
    return Bad(text, "a count", kCountHint);
  }
  return *count;
}

Result<uint64_t> ParseCpus(std::string_view text) {
  std::string_view rest = text;
  std::optional<uint64_t> whole = TakeDigits(&rest);
  if (!whole || *whole > kCpusMax / 1000) return Bad(text, "a number of processors", kCpusHint);
  uint64_t milli = *whole * 1000;
  if (!rest.empty()) {
    if (rest[0] != '.' || rest.size() < 2 || rest.size() > 4) {
      return Bad(text, "a number of processors", kCpusHint);
    }
    uint64_t place = 100;
    for (char c : rest.substr(1)) {
      if (c < '0' || c > '9') return Bad(text, "a number of processors", kCpusHint);
      milli += static_cast<uint64_t>(c - '0') * place;
      place /= 10;
    }
  }
  if (milli == 0 || milli > kCpusMax) return Bad(text, "a number of processors", kCpusHint);
  return milli;
}

Result<uint64_t> ParseFd(std::string_view text) {
  std::string_view rest = text;
  std::optional<uint64_t> fd = TakeDigits(&rest);
  if (!fd || !rest.empty() || *fd > kFdMax) {
    return Bad(text, "a file descriptor", "an open descriptor's number: --status-fd 3 3>status");
  }
  return *fd;
}

Result<uint64_t> CheckValue(Kind kind, std::string_view text) {
  switch (kind) {
    case Kind::kSize:
      return ParseSize(text);
    case Kind::kDuration:
      return ParseDuration(text);
    case Kind::kCount:
      return ParseCount(text);
    case Kind::kCpus:
      return ParseCpus(text);
    case Kind::kFd:
      return ParseFd(text);
    case Kind::kLevel:
      return CheckWord(kind, text, "a level");
    case Kind::kLimits:
      return CheckLimits(text);
    case Kind::kEnvSet:
      return CheckEnvSet(text);
    case Kind::kEnvName:
      return CheckEnvName(text);
    case Kind::kName:
      return CheckName(text);
    case Kind::kDigest:
      return CheckDigest(text);
    case Kind::kFlag:
    case Kind::kText:
    case Kind::kPath:
    case Kind::kDirectory:
    case Kind::kSandbox:
    case Kind::kProfile:
      break;
  }
  if (text.empty()) return Fail(ErrorCode::kInvalidArgument, "the value is empty");
  return 0;
}

}  // namespace bawn::cli
