// launch/quota.h
// The sampling monitor of a sandbox's changes: bytes and inodes of its upper layer, one metadata
// read per entry, in small steps so that deadlines are never delayed by a large tree. What ext4
// gives a rootless sandbox is no hard limit: the figure can be overshot between two samples, the
// receipt says `approximate` (DESIGN 6, Quota). A directory that cannot be read keeps its last
// figure by being counted as itself only. Decided in: policy/compile (limits). Enforced by: the
// keeper, which kills. Recorded as: `outcome.killed_by: disk | inodes`, `limits.{disk,inodes}`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/outcome.h"
#include "sys/files.h"

namespace bawn::launch {

struct QuotaLimits {
  std::optional<uint64_t> bytes, inodes;
  bool any() const { return bytes || inodes; }
};

struct QuotaFigure {
  uint64_t bytes = 0;  // allocated: st_blocks * 512
  uint64_t inodes = 0;
};

class QuotaMonitor {
 public:
  static constexpr int64_t kFirstMs = 250, kSlowestMs = 1000;
  static constexpr size_t kEntriesPerStep = 4000;
  static constexpr size_t kDepthMax = 512;  // deeper directories are counted as themselves

  // `upper` is borrowed and must outlive the monitor.
  QuotaMonitor(int upper, QuotaLimits limits) : upper_(upper), limits_(limits) {}

  // When the next step is due (CLOCK_MONOTONIC ns).
  int64_t due() const { return due_; }
  void Start(int64_t now);
  // One step of the current walk; gives what is violated, or kNothing.
  plan::KilledBy Step(int64_t now);
  // A whole walk at once: after the job ended.
  plan::KilledBy MeasureNow();
  const QuotaFigure& last() const { return last_; }

 private:
  struct Open {
    UniqueFd fd;
    std::vector<sys::DirEntry> entries;
    size_t next = 0;
  };
  void Enter(UniqueFd fd);
  bool Advance(size_t entries_max);  // true when the walk is complete
  plan::KilledBy Judge(const QuotaFigure& figure) const;

  int upper_;
  QuotaLimits limits_;
  QuotaFigure last_, running_;
  std::vector<Open> stack_;
  int64_t due_ = 0, interval_ms_ = kFirstMs, walk_started_ = 0;
};

}  // namespace bawn::launch
