// wall: seccomp  overlaps: -  source: RT-19
// Joins a session keyring.
#include "attack.h"

int main(void) { return Attempt("keyctl", syscall(SYS_keyctl, 1, NULL, 0, 0, 0)); }
