// wall: seccomp  overlaps: -  source: RT-06
// Changes the personality, with a bit set that the kernel ignores.
#include "attack.h"

int main(void) {
  return Attempt("personality", syscall(SYS_personality, (1UL << 32) | 0x0400000UL));
}
