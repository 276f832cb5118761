// wall: pid1-dumpable  overlaps: landlock, pid-namespace  source: RT-22
// Opens the memory of another process for writing. Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", Number(argc, argv, 1));
  int fd = open(path, O_RDWR | O_CLOEXEC);
  return Attempt("open", fd);
}
