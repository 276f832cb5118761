// Which level a run gets. No silent downgrade: `--level L` is exactly L or a refusal, profile and
// BAWN_LEVEL are floors, and what was obtained is measured by init and the canaries, not here. Only
// `bounded` is proven here already, by making its control group: the default depends on it.
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "contain/cgroup.h"
#include "service/root_mode.h"
#include "service/session.h"
#include "sys/files.h"

namespace bawn::service {
namespace {

using plan::Level;

Result<Level> Parse(const std::string& text, const std::string& from) {
  std::optional<Level> level = plan::ParseLevel(text);
  if (level) return *level;
  return Fail(ErrorCode::kInvalidArgument, from + ": unknown level " + EscapeName(text),
              "levels are none, restricted, isolated, bounded, guest", "level.unknown");
}

std::unexpected<Error> Unavailable(Level level, const std::string& why, std::string hint) {
  return Fail(ErrorCode::kUnavailable,
              "level " + std::string(plan::LevelName(level)) + " is not available: " + why +
                  "; nothing ran",
              std::move(hint), "level.unavailable");
}

// Written down before they are made: whatever happens to this process, the next command finds them.
Result<> RecordGroups(const workspace::SandboxDir& dir,
                      const std::vector<contain::CgroupPlace>& places, const std::string& name) {
  std::string record;
  for (const contain::CgroupPlace& place : places) record += place.directory + "/" + name + "\n";
  UniqueFd file = BAWN_TRY(
      sys::Openat2(dir.fd.get(), kCgroupRecord, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  return sys::WriteAll(file.get(), record);
}

Result<contain::Cgroup> MakeGroup(const RunOptions& options, const Session& session) {
  bool cpu = options.limits.cpus_milli || session.policy.limits.cpus_milli;
  std::vector<contain::CgroupPlace> places = BAWN_TRY(contain::FindCgroupPlaces(cpu));
  for (const contain::CgroupPlace& place : places) {
    bool limits = place.memory || place.pids || place.cpu;
    if (!limits || faccessat(AT_FDCWD, place.directory.c_str(), W_OK, AT_EACCESS) == 0) continue;
    return FailErrno(errno, "control group " + place.directory);
  }
  std::string name = contain::Cgroup::NameFor(session.dir.id);
  BAWN_CHECK_OK(RecordGroups(session.dir, places, name));
  return contain::Cgroup::Make(places, name);
}

// The highest proven of isolated and bounded. An ordinary user without a delegated group has
// nothing higher, so that is no downgrade.
Level ProveDefault(const RunOptions& options, Session* session) {
  Result<contain::Cgroup> group = MakeGroup(options, *session);
  if (group) {
    session->group = std::move(*group);
    return Level::kBounded;
  }
  bool no_right = group.error().sys_errno == EACCES || group.error().sys_errno == EROFS;
  if (!no_right || IsRootMode(session->caller)) {
    session->downgrade_reason = "level bounded: " + group.error().message;
  }
  return Level::kIsolated;
}

Result<Level> Floor(const Session& session) {
  Level floor = session.policy.level_floor.value_or(Level::kNone);
  std::string from_environment = session.caller.Env("BAWN_LEVEL");
  if (from_environment.empty()) return floor;
  return std::max(floor, BAWN_TRY(Parse(from_environment, "BAWN_LEVEL")));
}

// A sandbox that exists has its level already; empty for one that is being made.
Result<std::optional<Level>> LevelOfSandbox(const RunOptions& options, const Session& session) {
  if (options.in_sandbox.empty()) return std::nullopt;
  const Json* written = session.opened.meta.extra.Get("level");
  const std::string* text = written == nullptr ? nullptr : written->AsString();
  Level level = BAWN_TRY(Parse(text == nullptr ? "isolated" : *text, "the sandbox's record"));
  bool same_walls = !session.attached && level >= Level::kIsolated;
  if (options.level && *options.level != level &&
      (!same_walls || *options.level < Level::kIsolated)) {
    return Fail(ErrorCode::kFailedPrecondition,
                "the sandbox was made at level " + std::string(plan::LevelName(level)) + ", not " +
                    std::string(plan::LevelName(*options.level)),
                "leave --level out, or start a new one", "in.level");
  }
  return level;
}

// What has no namespaces is the user's own process: for root that is the machine's.
Result<> CheckBelowIsolated(const RunOptions& options, const Session& session) {
  if (IsRootMode(session.caller)) {
    return Fail(ErrorCode::kPermissionDenied,
                "level " + std::string(plan::LevelName(session.level)) +
                    " has no user namespace, and no payload runs with host id 0; nothing ran",
                "run at level isolated, or as an ordinary user", "level.root");
  }
  if (session.level == Level::kNone && (options.keep || !options.in_sandbox.empty())) {
    return Fail(ErrorCode::kInvalidArgument, "level none has no sandbox to keep; nothing ran",
                "leave --keep out, or run at level isolated", "level.none");
  }
  return {};
}

}  // namespace

Result<> ChooseLevel(const RunOptions& options, Session* session) {
  Level floor = BAWN_TRY(Floor(*session));
  std::optional<Level> asked = options.level;
  std::optional<Level> made_at = BAWN_TRY(LevelOfSandbox(options, *session));
  if (!asked && made_at && (session->attached || *made_at < Level::kIsolated)) asked = made_at;
  if (!asked && floor > Level::kIsolated) asked = floor;
  session->level = asked ? *asked : ProveDefault(options, session);
  Level level = session->level;
  if (level < floor) {
    return Fail(ErrorCode::kPermissionDenied,
                "level " + std::string(plan::LevelName(level)) + " is below the floor " +
                    std::string(plan::LevelName(floor)) + "; nothing ran",
                "the floor is set by the profile or by BAWN_LEVEL", "level.floor");
  }
  if (level == Level::kGuest) {
    return Unavailable(level, "this version does not have it",
                       "bawn doctor says what this machine can prove");
  }
  if (level < Level::kIsolated) BAWN_CHECK_OK(CheckBelowIsolated(options, *session));
  if (level == Level::kBounded && !session->group && !session->attached) {
    Result<contain::Cgroup> group = MakeGroup(options, *session);
    if (!group) {
      return Unavailable(level, group.error().message,
                         "run as root, or in a delegated control group: systemd-run --user --scope "
                         "-p Delegate=yes bawn …");
    }
    session->group = std::move(*group);
  }
  return {};
}

}  // namespace bawn::service
