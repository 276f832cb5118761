#include "launch/quota.h"

#include <dirent.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace bawn::launch {
namespace {
constexpr int64_t kMs = 1'000'000;
}

void QuotaMonitor::Start(int64_t now) { due_ = now + kFirstMs * kMs; }

void QuotaMonitor::Enter(UniqueFd fd) {
  Result<std::vector<sys::DirEntry>> entries = sys::ListDir(fd.get());
  if (!entries || stack_.size() >= kDepthMax) return;
  stack_.push_back({std::move(fd), std::move(*entries), 0});
}

bool QuotaMonitor::Advance(size_t entries_max) {
  if (stack_.empty()) {
    running_ = {};
    Result<UniqueFd> root = sys::OpenDir(upper_, ".");
    if (!root) return true;
    Enter(std::move(*root));
  }
  for (size_t done = 0; done < entries_max && !stack_.empty(); ++done) {
    Open& top = stack_.back();
    if (top.next == top.entries.size()) {
      stack_.pop_back();
      continue;
    }
    const sys::DirEntry& entry = top.entries[top.next++];
    Result<sys::FileStat> st = sys::Fstatat(top.fd.get(), entry.name);
    if (!st) continue;  // gone in between
    running_.inodes += 1;
    // A hard-linked file counts once per name here: an upper bound, never too little.
    running_.bytes += st->blocks * 512;
    if (!st->IsDir()) continue;
    Result<UniqueFd> child = sys::OpenDir(top.fd.get(), entry.name, sys::kUntrusted);
    if (child) Enter(std::move(*child));
  }
  if (!stack_.empty()) return false;
  last_ = running_;
  return true;
}

plan::KilledBy QuotaMonitor::Judge(const QuotaFigure& figure) const {
  if (limits_.bytes && figure.bytes > *limits_.bytes) return plan::KilledBy::kDisk;
  if (limits_.inodes && figure.inodes > *limits_.inodes) return plan::KilledBy::kInodes;
  return plan::KilledBy::kNothing;
}

plan::KilledBy QuotaMonitor::Step(int64_t now) {
  if (stack_.empty()) walk_started_ = now;
  bool complete = Advance(kEntriesPerStep);
  plan::KilledBy verdict = Judge(running_);  // also half-way: what is counted is there
  if (!complete) {
    due_ = now + kMs;
    return verdict;
  }
  // Backs off to a second, and never spends more than a tenth of the time on walking.
  int64_t walk_ms = (MonotonicNs() - walk_started_) / kMs;
  interval_ms_ = std::max(std::min(interval_ms_ * 2, kSlowestMs), walk_ms * 10);
  due_ = now + interval_ms_ * kMs;
  return verdict;
}

plan::KilledBy QuotaMonitor::MeasureNow() {
  stack_.clear();
  while (!Advance(kEntriesPerStep)) {
  }
  return Judge(last_);
}

}  // namespace bawn::launch
