// wall: pid1-dumpable  overlaps: landlock, pid-namespace  source: RT-22
// Compares kernel objects with another process. Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) {
  return Attempt("kcmp", syscall(SYS_kcmp, getpid(), Number(argc, argv, 1), 0, 0, 0));
}
