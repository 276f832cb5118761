// wall: seccomp  overlaps: capabilities, landlock  source: RT-19
// Mounts a new file system.
#include <sys/mount.h>

#include "attack.h"

int main(void) { return Attempt("mount", mount("none", "/tmp", "tmpfs", 0, NULL)); }
