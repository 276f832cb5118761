// wall: seccomp  overlaps: capabilities, user-limit  source: RT-19
// Makes a network namespace.
#include <sched.h>

#include "attack.h"

int main(void) { return Attempt("unshare", unshare(CLONE_NEWNET)); }
