// Which level a run gets. No silent downgrade: `--level L` is exactly L or a refusal, profile and
// BAWN_LEVEL are floors, and what was obtained is measured by init and the canaries, not here.
#include <algorithm>
#include <string>

#include "base/text.h"
#include "service/session.h"

namespace bawn::service {
namespace {

Result<plan::Level> Parse(const std::string& text, const std::string& from) {
  std::optional<plan::Level> level = plan::ParseLevel(text);
  if (level) return *level;
  return Fail(ErrorCode::kInvalidArgument, from + ": unknown level " + EscapeName(text),
              "levels are none, restricted, isolated, bounded, guest", "level.unknown");
}

std::unexpected<Error> Unavailable(plan::Level level) {
  return Fail(ErrorCode::kUnavailable,
              "level " + std::string(plan::LevelName(level)) +
                  " is not available in this version; nothing ran",
              "bawn doctor says what this machine can prove; the default level is isolated",
              "level.unavailable");
}

}  // namespace

Result<plan::Level> ChooseLevel(const Caller& caller, const policy::Policy& policy,
                                const std::optional<plan::Level>& asked) {
  plan::Level floor = policy.level_floor.value_or(plan::Level::kNone);
  std::string from_environment = caller.Env("BAWN_LEVEL");
  if (!from_environment.empty()) {
    floor = std::max(floor, BAWN_TRY(Parse(from_environment, "BAWN_LEVEL")));
  }
  plan::Level level = asked.value_or(std::max(floor, plan::Level::kIsolated));
  if (level < floor) {
    return Fail(ErrorCode::kPermissionDenied,
                "level " + std::string(plan::LevelName(level)) + " is below the floor " +
                    std::string(plan::LevelName(floor)) + "; nothing ran",
                "the floor is set by the profile or by BAWN_LEVEL", "level.floor");
  }
  if (level != plan::Level::kIsolated) return Unavailable(level);
  return level;
}

}  // namespace bawn::service
