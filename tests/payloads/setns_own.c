// wall: seccomp  overlaps: capabilities, second-userns  source: RT-19
// Joins a namespace by descriptor.
#include <sched.h>

#include "attack.h"

int main(void) {
  int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Stopped("open");
  return Attempt("setns", setns(fd, CLONE_NEWUTS));
}
