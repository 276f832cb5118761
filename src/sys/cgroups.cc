#include "sys/cgroups.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sys {

Result<Child> Clone3Into(uint64_t flags, int cgroup_fd) {
  if (cgroup_fd < 0) return Clone3(flags);
  int pidfd = -1;
  clone_args args = {};
  args.flags = flags | CLONE_PIDFD | CLONE_INTO_CGROUP;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  args.cgroup = static_cast<uint64_t>(cgroup_fd);
  long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) return FailErrno(errno, "clone3(CLONE_INTO_CGROUP)");
  Child child;
  child.pid = static_cast<pid_t>(pid);
  if (pid > 0) child.pidfd.Reset(pidfd);
  return child;
}

Result<UniqueFd> EventFd() {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return FailErrno(errno, "eventfd");
  return UniqueFd(fd);
}

}  // namespace bawn::sys
