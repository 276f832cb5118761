// wall: seccomp  overlaps: pid1-dumpable, landlock  source: RT-22
// Takes a descriptor out of another process. Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) {
  long pidfd = syscall(SYS_pidfd_open, Number(argc, argv, 1), 0);
  if (pidfd < 0) return Stopped("pidfd_open");
  return Attempt("pidfd_getfd", syscall(SYS_pidfd_getfd, pidfd, 0, 0));
}
