// wall: pid1-dumpable  overlaps: landlock, pid-namespace  source: RT-22
// Reads the memory map of another process. Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/maps", Number(argc, argv, 1));
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Stopped("open");
  char byte;
  return Attempt("read", read(fd, &byte, 1));
}
