// wall: seccomp  overlaps: capabilities, user-limit, second-userns  source: RT-19
// Clones a mount.
#include "attack.h"

int main(void) { return Attempt("open_tree", syscall(428, AT_FDCWD, "/usr", 1)); }
