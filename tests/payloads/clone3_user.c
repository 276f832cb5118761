// wall: seccomp  overlaps: user-limit  source: RT-19
// Makes a user namespace by clone3(2), whose flags no filter can read.
#include <linux/sched.h>

#include "attack.h"

int main(void) {
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid((pid_t)pid, NULL, 0);
  return Attempt("clone3", pid);
}
