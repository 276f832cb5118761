// wall: seccomp  overlaps: -  source: RT-19
// Uses the keyring that is shared by uid, not by sandbox.
#include "attack.h"

int main(void) {
  return Attempt("add_key", syscall(SYS_add_key, "user", "bawn-attack", "x", 1, -2));
}
