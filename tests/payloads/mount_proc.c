// wall: seccomp  overlaps: capabilities, landlock, second-userns  source: RT-19
// Mounts a new /proc.
#include <sys/mount.h>

#include "attack.h"

int main(void) { return Attempt("mount", mount("proc", "/tmp", "proc", 0, NULL)); }
