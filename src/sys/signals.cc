#include "sys/signals.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sys {

void ResetSignalActions() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  // EINVAL for SIGKILL, SIGSTOP and the two that libc keeps for itself: those cannot be ignored.
  for (int signal = 1; signal <= SIGRTMAX; ++signal) sigaction(signal, &action, nullptr);
}

void UnblockAllSignals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

Result<UniqueFd> ChildSignalFd() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  if (sigprocmask(SIG_SETMASK, &child, nullptr) < 0) return FailErrno(errno, "sigprocmask");
  int fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) return FailErrno(errno, "signalfd");
  return UniqueFd(fd);
}

void DrainSignalFd(int fd) {
  signalfd_siginfo info;
  while (read(fd, &info, sizeof info) == sizeof info) {
  }
}

Reaped ReapAnyChild() {
  Reaped reaped;
  rusage usage = {};
  do {
    // __WALL: a payload may make children of pid 1 without SIGCHLD (clone(2), CLONE_PARENT).
    reaped.pid = wait4(-1, &reaped.status, WNOHANG | __WALL, &usage);
  } while (reaped.pid < 0 && errno == EINTR);
  auto micros = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000 + static_cast<uint64_t>(t.tv_usec);
  };
  reaped.cpu_us = micros(usage.ru_utime) + micros(usage.ru_stime);
  reaped.memory_peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return reaped;
}

int Kill(int pid, int signal) { return kill(pid, signal) < 0 ? errno : 0; }

}  // namespace bawn::sys
