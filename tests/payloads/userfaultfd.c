// wall: seccomp  overlaps: -  source: RT-19
// Stops the kernel in the middle of a copy.
#include "attack.h"

int main(void) { return Attempt("userfaultfd", syscall(SYS_userfaultfd, 1)); }
