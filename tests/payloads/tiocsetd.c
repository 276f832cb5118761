// wall: seccomp  overlaps: inner-pty  source: RT-19
// Changes the line discipline of the terminal, which loads kernel code.
#include "attack.h"

int main(void) {
  int discipline = 0;  // N_TTY: the one it has
  return Attempt("TIOCSETD", ioctl(0, TIOCSETD, &discipline));
}
