// wall: seccomp  overlaps: capabilities  source: RT-19
// Makes a network namespace.
#include <sched.h>

#include "attack.h"

int main(void) { return Attempt("unshare", unshare(CLONE_NEWNET)); }
