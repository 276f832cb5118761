// plan/receipt.h
// The record of one job (DESIGN 8, "Receipt"), as a value. record/ turns it into JSON and back.
// What nothing measured is absent here and null there, with its reason in `unmeasured`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/level.h"
#include "plan/outcome.h"

namespace bawn::plan {

struct LayerReport {
  std::string name;   // "userns", "mounts", "network", "landlock", "seccomp", …
  std::string state;  // "held" | "failed" | "unknown" | "off"
  std::string verified_by;
};

struct LimitReport {
  std::string name;  // "time", "output", "pids", …
  uint64_t value = 0;
  std::string state;  // "enforced" | "approximate" | "not_enforced"
};

struct StreamReport {
  uint64_t bytes_total = 0;
  std::optional<std::string> sha256;  // over the kept bytes
  bool truncated = false;
};

struct WorkspaceReport {
  std::string mode;  // "live"
  std::string rung;  // "overlay" | "reflink" | "copy"
  std::string path;
  std::string base_commit;  // empty: none
  std::optional<uint64_t> added, modified, deleted, bytes;
  std::string durable;               // "pending" | "synced" | "none"
  std::vector<std::string> covered;  // protected paths hidden by name
};

struct Receipt {
  std::string sandbox_id;
  std::string sandbox_name;
  std::string job_id;
  std::vector<std::string> command;  // bytes
  int64_t started_at_ns = 0;         // CLOCK_REALTIME
  int64_t ended_at_ns = 0;
  Outcome outcome;
  Level requested = Level::kIsolated;
  Level obtained = Level::kNone;
  std::string downgrade_reason;
  std::string engine = "native";
  std::vector<LayerReport> layers;
  std::vector<LimitReport> limits;
  std::optional<uint64_t> cpu_ms, memory_peak_bytes, pids_peak;
  WorkspaceReport workspace;
  std::vector<std::string> direct_writes;
  StreamReport out, err;
  std::string policy_digest;
  std::vector<std::string> policy_sources;
  std::vector<std::string> remaining;
  std::vector<std::pair<std::string, std::string>> unmeasured;  // json.path -> reason
};

}  // namespace bawn::plan
