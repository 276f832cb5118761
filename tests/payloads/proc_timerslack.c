// wall: capabilities  overlaps: pid-namespace  source: RT-22
// Slows another process. Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/timerslack_ns", Number(argc, argv, 1));
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return Stopped("open");
  return Attempt("write", write(fd, "0", 1));
}
