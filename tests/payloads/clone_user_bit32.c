// wall: seccomp  overlaps: user-limit  source: RT-06
// Makes a user namespace by clone(2), with a bit set that the kernel ignores.
#include <sched.h>

#include "attack.h"

int main(void) {
  long pid = syscall(SYS_clone, (1UL << 32) | CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  if (pid > 0) waitpid((pid_t)pid, NULL, 0);
  return Attempt("clone", pid);
}
