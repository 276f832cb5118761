// sys/processes.h
// Making, watching and ending processes by pidfd; a pid number is for display only.
// Sources: clone3(2), pidfd_open(2), pidfd_send_signal(2), execveat(2), close_range(2), waitid(2).
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::sys {

// A process that clones, unshares or mounts has one thread (systemd's rule; a bug otherwise).
void AssertSingleThreaded();

struct Child {
  pid_t pid = 0;  // 0 in the child
  UniqueFd pidfd;
};
// clone3 with `flags` (CLONE_NEW* of <sched.h>), exit signal SIGCHLD and a pidfd; no CLONE_VM, so
// the child may allocate (the caller is single-threaded).
Result<Child> Clone3(uint64_t flags);
inline constexpr uint64_t kAllNamespaces =
    0x10000000 /*USER*/ | 0x00020000 /*NS*/ | 0x20000000 /*PID*/ | 0x40000000 /*NET*/ |
    0x08000000 /*IPC*/ | 0x04000000 /*UTS*/ | 0x02000000 /*CGROUP*/;

Result<UniqueFd> PidfdOpen(pid_t pid);
Result<> PidfdSendSignal(int pidfd, int signal);  // ESRCH stays an errno

struct Exit {
  int status = 0;  // as wait(2): WIFEXITED and friends
  uint64_t cpu_us = 0;
  uint64_t memory_peak_bytes = 0;
};
// Reaps the child behind a pidfd; false in `*ended` when it still runs and `wait` is false.
Result<Exit> WaitPidfd(int pidfd, bool wait, bool* ended);

Result<> Unshare(uint64_t flags);
Result<> CloseFrom(unsigned first);  // close_range(first, ~0)
// For a child that only is there, until it is killed: by its parent, or with it. A parent that was
// killed before it could would leave it behind, and every lock that it inherited.
[[noreturn]] void WaitToBeKilled(pid_t parent);
// Replaces the process by the program behind `fd` (execveat, AT_EMPTY_PATH). Returns on failure.
Error ExecFd(int fd, const std::vector<std::string>& argv, const std::vector<std::string>& envp);

// Starts a program of ours by descriptor: vfork-like, `fds[i]` becomes descriptor i, all others are
// closed, default signal actions, empty mask. The environment is exactly `envp`.
struct SpawnSpec {
  int program_fd = -1;
  std::vector<std::string> argv;
  std::vector<std::string> envp;
  std::vector<int> fds;
  bool new_session = false;
};
Result<Child> Spawn(const SpawnSpec& spec);

// Sealed anonymous files. `executable` false adds MFD_NOEXEC_SEAL.
Result<UniqueFd> SealedMemfd(const char* name, std::string_view bytes);
// The same in two steps, for a file that crosses before its content is known: a Memfd, filled once.
Result<> FillAndSeal(int memfd, std::string_view bytes);
Result<UniqueFd> Memfd(const char* name);

// First act of a program that people start: a closed descriptor 0, 1 or 2 becomes the null device,
// or the next file that is opened would take its place.
void OpenMissingStdio();

// The running executable's path, for display.
Result<std::string> SelfPath();
// The program of that name beside the running executable (or in ../libexec/bawn), opened
// O_PATH-less for exec; kNotFound names both places.
Result<UniqueFd> OpenSibling(std::string_view name);

}  // namespace bawn::sys
