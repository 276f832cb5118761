// policy/policy.h
// Policy: a profile's parsed value (DESIGN 8, "Profile"). Every field knows where it came from, so
// that a Decision can cite file and line. Made by policy/builtin.h or, from YAML, by bawn-policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/level.h"

namespace bawn::policy {

// Where a rule stands: "built-in" or a path, and a line (0: none).
struct Origin {
  std::string file = "built-in";
  uint32_t line = 0;
};

struct PathRule {
  std::string path;  // absolute or starting with "~/"
  Origin origin;
};
struct EnvRule {
  std::string name;
  std::optional<std::string> value;  // absent: pass the caller's
  Origin origin;
};

struct Limits {
  std::optional<uint64_t> cpus_milli;  // 1500 = 1.5 CPUs
  std::optional<uint64_t> memory_bytes, pids, disk_bytes, inodes, output_bytes;
  std::optional<uint64_t> time_ms, idle_ms;
  std::vector<std::string> best_effort;  // limit names
};

struct Policy {
  std::string name;
  std::string extends;  // the profile this one adds to; empty once policy/extend.h resolved it
  std::optional<plan::Level> level_floor;
  std::vector<PathRule> ro, rw, hide, show;
  std::vector<EnvRule> env;
  std::vector<std::string> secrets;
  Limits limits;
  std::vector<std::string> caches;  // rows of the toolchain table shown with a writable upper
  std::vector<std::string> syscall_profiles;  // "browser", "debug"
  std::vector<Origin> sources;                // files this was read from
  std::string digest;                         // sha256 of policy/canonical.h's text
};

}  // namespace bawn::policy
