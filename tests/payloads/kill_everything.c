// wall: pid-namespace  overlaps: landlock  source: DESIGN 5
// kill -9 -1: ends itself or not, but nothing outside. Argument: pid of a witness on the host; the
// test looks whether it lives. In the control the witness is signalled alone.
#include "attack.h"

int main(int argc, char** argv) {
  int witness = Number(argc, argv, 1);
  if (argc > 2) return Attempt("kill the witness", kill(witness, SIGKILL));
  kill(witness, SIGKILL);
  kill(-1, SIGKILL);
  usleep(100000);
  return kill(witness, 0) == 0 ? Succeeded("the witness was seen") : Stopped("kill");
}
