#include "policy/limits.h"

#include <algorithm>

#include "base/text.h"
#include "policy/build.h"

namespace bawn::policy {
namespace {

using plan::Level;

struct LimitField {
  std::string_view name;
  std::optional<uint64_t> Limits::* field;
};
constexpr LimitField kFields[] = {
    {"cpu", &Limits::cpus_milli},  {"memory", &Limits::memory_bytes}, {"pids", &Limits::pids},
    {"disk", &Limits::disk_bytes}, {"inodes", &Limits::inodes},       {"time", &Limits::time_ms},
    {"idle", &Limits::idle_ms},    {"output", &Limits::output_bytes},
};

// RT-26, E-19: what one sandbox may take of the uid's watches.
constexpr uint64_t kBrowserUserNamespaces = 16;

}  // namespace

Limits MergeLimits(const Limits& under, const Limits& over) {
  Limits merged = under;
  for (const LimitField& field : kFields) {
    if (over.*field.field) merged.*field.field = over.*field.field;
  }
  for (const std::string& name : over.best_effort) {
    if (!IsBestEffort(merged, name)) merged.best_effort.push_back(name);
  }
  return merged;
}

bool IsBestEffort(const Limits& limits, std::string_view name) {
  return std::ranges::find(limits.best_effort, name) != limits.best_effort.end();
}

bool LevelHolds(Level level, std::string_view limit) {
  if (limit == "time" || limit == "idle" || limit == "output") return true;
  if (limit == "disk" || limit == "inodes") return level >= Level::kRestricted;
  if (limit == "pids") return level >= Level::kIsolated;  // RLIMIT_NPROC counts per user namespace
  return level >= Level::kBounded;
}

Result<> CheckLimits(const Limits& limits, Level level) {
  for (const std::string& name : limits.best_effort) {
    if (std::ranges::find(kLimitNames, name) != std::end(kLimitNames)) continue;
    std::string nearest = Nearest(name, {std::begin(kLimitNames), std::end(kLimitNames)});
    return Fail(ErrorCode::kInvalidArgument,
                "best effort: no limit is called '" + EscapeName(name) + "'",
                nearest.empty() ? "" : "did you mean '" + nearest + "'?", "limits.best_effort");
  }
  for (const LimitField& field : kFields) {
    const std::optional<uint64_t>& value = limits.*field.field;
    if (!value) continue;
    std::string name(field.name);
    if (*value == 0) {
      return Fail(ErrorCode::kInvalidArgument, "limit " + name + ": 0 leaves nothing to run with",
                  "leave it out, or give a size", "limits." + name);
    }
    if (LevelHolds(level, field.name) || IsBestEffort(limits, field.name)) continue;
    std::string needed = field.name == "pids"                             ? "isolated"
                         : field.name == "disk" || field.name == "inodes" ? "restricted"
                                                                          : "bounded";
    return Fail(ErrorCode::kUnavailable,
                "limit " + name + " cannot be held on the whole tree at level " +
                    std::string(LevelName(level)),
                (needed == "bounded" ? "run where level bounded is proven (a delegated cgroup or "
                                       "the root launcher), or say --best-effort "
                                     : "run at level " + needed + ", or say --best-effort ") +
                    name,
                "limits." + name);
  }
  return {};
}

Result<> AddLimits(Build* build) {
  Limits defaults;
  defaults.output_bytes = kOutputBytesDefault;
  if (LevelHolds(build->level, "pids")) defaults.pids = kPidsDefault;
  Limits limits = MergeLimits(MergeLimits(defaults, build->policy.limits), build->request.limits);
  BAWN_CHECK_OK(CheckLimits(limits, build->level));

  plan::ProcessLimits& process = build->out.plan.limits;
  if (build->level >= Level::kBounded) {
    // The control group is the limit: RLIMIT_NPROC beside it would refuse first, and unseen.
    build->out.plan.tree = {limits.memory_bytes.value_or(0), limits.pids.value_or(0),
                            limits.cpus_milli.value_or(0)};
  } else {
    process.processes = limits.pids.value_or(0);
  }
  process.file_bytes = limits.disk_bytes.value_or(0);  // no single file can pass the lid either
  bool per_process = limits.memory_bytes && !LevelHolds(build->level, "memory");
  if (per_process) process.address_space_bytes = *limits.memory_bytes;

  std::vector<std::string>& profiles = build->out.plan.syscall_profiles;
  profiles = build->policy.syscall_profiles;
  std::ranges::sort(profiles);
  profiles.erase(std::ranges::unique(profiles).begin(), profiles.end());
  for (const std::string& profile : profiles) {
    if (profile == "browser") process.user_namespaces_max = kBrowserUserNamespaces;
    if (profile != "browser" && profile != "debug") {
      return Fail(ErrorCode::kInvalidArgument,
                  "no syscall profile is called '" + EscapeName(profile) + "'",
                  "there are 'browser' and 'debug'", "syscalls.allow");
    }
    build->Note(plan::Verdict::kAllow, "syscalls:" + profile, "syscalls.allow",
                build->policy.sources.empty() ? kBuiltIn : build->policy.sources.back(),
                "the system call filter is wider");
  }
  build->out.limits = std::move(limits);
  return {};
}

}  // namespace bawn::policy
