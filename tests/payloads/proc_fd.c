// wall: pid1-dumpable  overlaps: pid-namespace  source: RT-22
// Lists the descriptors of another process. Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd", Number(argc, argv, 1));
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return Attempt("open", fd);
}
