// wall: pid1-dumpable  overlaps: landlock, pid-namespace  source: RT-22
// Opens the executable of another process (CVE-2019-5736). Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/exe", Number(argc, argv, 1));
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  return Attempt("open", fd);
}
