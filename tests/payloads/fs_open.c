// wall: seccomp  overlaps: capabilities  source: RT-19
// Prepares a file system.
#include "attack.h"

int main(void) { return Attempt("fsopen", syscall(430, "tmpfs", 0)); }
