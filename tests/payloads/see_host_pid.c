// wall: pid-namespace  overlaps: -  source: DESIGN 5
// Sees a process of the host. Arguments: its pid, a part of its command line.
#include "attack.h"

int main(int argc, char** argv) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%d/cmdline", Number(argc, argv, 1));
  ssize_t count = ReadWhole(AT_FDCWD, path, line, sizeof line);
  if (count < 0) return Stopped("open");
  errno = ESRCH;
  if (memmem(line, (size_t)count, argv[2], strlen(Argument(argc, argv, 2)))) {
    return Succeeded("saw it");
  }
  return Stopped("another process");
}
