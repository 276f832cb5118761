// wall: seccomp  overlaps: capabilities  source: kernel facts 4
// Leaves a root by the double chroot.
#include "attack.h"

int main(void) {
  mkdir("by-attack", 0700);
  int result = chroot("by-attack");
  rmdir("by-attack");
  return Attempt("chroot", result);
}
