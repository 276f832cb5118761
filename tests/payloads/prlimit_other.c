// wall: seccomp  overlaps: pid-namespace  source: RT-22
// Changes a limit of another process. Argument: pid (inside: 1).
#include <sys/resource.h>

#include "attack.h"

int main(int argc, char** argv) {
  int pid = Number(argc, argv, 1);
  struct rlimit old;
  if (prlimit(pid, RLIMIT_NOFILE, 0, &old) != 0) return Stopped("prlimit, reading");
  return Attempt("prlimit, writing", prlimit(pid, RLIMIT_NOFILE, &old, 0));
}
