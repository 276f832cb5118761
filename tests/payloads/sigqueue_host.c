// wall: pid-namespace  overlaps: landlock  source: DESIGN 5
// Queues a signal to a process of the host. Argument: pid.
#include "attack.h"

int main(int argc, char** argv) {
  union sigval value = {0};
  return Attempt("sigqueue", sigqueue(Number(argc, argv, 1), SIGURG, value));
}
