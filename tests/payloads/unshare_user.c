// wall: seccomp  overlaps: user-limit  source: RT-19
// Makes a user namespace, and with it capabilities.
#include <sched.h>

#include "attack.h"

int main(void) { return Attempt("unshare", unshare(CLONE_NEWUSER)); }
