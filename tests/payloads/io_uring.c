// wall: seccomp  overlaps: -  source: O-08
// Sets up io_uring, whose operations no filter sees.
#include "attack.h"

int main(void) {
  char params[120] = {0};
  return Attempt("io_uring_setup", syscall(SYS_io_uring_setup, 2, params));
}
