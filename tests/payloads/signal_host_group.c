// wall: pid-namespace  overlaps: landlock  source: DESIGN 5
// Signals a process group of the host. Argument: pid.
#include "attack.h"

int main(int argc, char** argv) {
  int pid = Number(argc, argv, 1);
  return Attempt("kill", kill(-pid, 0));
}
