// wall: pid1-dumpable  overlaps: pid-namespace  source: RT-22
// Makes another process the kernel's first victim. Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/oom_score_adj", Number(argc, argv, 1));
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  return Attempt("open", fd);
}
