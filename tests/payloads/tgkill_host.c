// wall: pid-namespace  overlaps: landlock  source: DESIGN 5
// Signals a thread of the host. Argument: pid.
#include "attack.h"

int main(int argc, char** argv) {
  int pid = Number(argc, argv, 1);
  return Attempt("tgkill", syscall(SYS_tgkill, pid, pid, 0));
}
