// plan/level.h
// Containment levels, weakest first (DESIGN 5). Comparable: a higher level includes the promises of
// the lower ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bawn::plan {

enum class Level : uint8_t { kNone, kRestricted, kIsolated, kBounded, kGuest };

constexpr std::string_view LevelName(Level level) {
  constexpr std::string_view kNames[] = {"none", "restricted", "isolated", "bounded", "guest"};
  return kNames[static_cast<uint8_t>(level)];
}

constexpr std::optional<Level> ParseLevel(std::string_view text) {
  for (uint8_t i = 0; i <= static_cast<uint8_t>(Level::kGuest); ++i) {
    if (LevelName(static_cast<Level>(i)) == text) return static_cast<Level>(i);
  }
  return std::nullopt;
}

}  // namespace bawn::plan
