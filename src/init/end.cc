#include "init/end.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <set>
#include <string>

#include "base/clock.h"
#include "sys/events.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "sys/signals.h"

namespace bawn::init {
namespace {

constexpr size_t kListBytesMax = 4 << 20;

// Reaps what has ended; true when no child is left.
bool ReapAll() {
  while (true) {
    sys::Reaped reaped = sys::ReapAnyChild();
    if (reaped.pid < 0) return true;
    if (reaped.pid == 0) return false;
  }
}

// The children of every thread of a process.
void AddChildren(int pid, std::set<int>* found) {
  std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  Result<UniqueFd> directory = sys::OpenDir(AT_FDCWD, tasks);
  if (!directory) return;
  Result<std::vector<sys::DirEntry>> threads = sys::ListDir(directory->get());
  if (!threads) return;
  for (const sys::DirEntry& thread : *threads) {
    std::string text =
        sys::ReadFileAt(directory->get(), thread.name + "/children", kListBytesMax).value_or("");
    for (size_t at = 0; at < text.size(); ++at) {
      int child = 0;
      auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), child);
      if (error != std::errc()) break;
      if (found->insert(child).second) AddChildren(child, found);
      at = static_cast<size_t>(end - text.data());
    }
  }
}

std::set<int> Descendants() {
  std::set<int> found;
  AddChildren(getpid(), &found);
  return found;
}

// By pidfd, and only while it is still one of ours: a number may be another process's by now.
void Signal(int pid, int signal) {
  Result<UniqueFd> pidfd = sys::PidfdOpen(pid);
  if (!pidfd || !Descendants().contains(pid)) return;
  (void)sys::PidfdSendSignal(pidfd->get(), signal);  // ESRCH: it has ended
}

// Stopped processes do not fork: rounds until nobody new appears, then all are killed.
void KillDescendants(int64_t deadline) {
  std::set<int> stopped;
  while (MonotonicNs() < deadline) {
    bool fresh = false;
    for (int pid : Descendants()) {
      if (!stopped.insert(pid).second) continue;
      Signal(pid, SIGSTOP);
      fresh = true;
    }
    if (!fresh) break;
  }
  for (int pid : Descendants()) Signal(pid, SIGKILL);
}

}  // namespace

void EndTree(plan::Level level, int exit_code) {
  if (level >= plan::Level::kIsolated) {
    (void)sys::Kill(-1, SIGKILL);
    _exit(exit_code);
  }
  int64_t deadline = MonotonicNs() + int64_t{kEndDeadlineMs} * 1'000'000;
  while (!ReapAll() && MonotonicNs() < deadline) {
    if (level == plan::Level::kRestricted) {
      (void)sys::Kill(-1, SIGKILL);  // bounded by the domain that BuildPlain proved
    } else {
      KillDescendants(deadline);
    }
    sys::SleepMs(1);
  }
  _exit(exit_code);
}

}  // namespace bawn::init
