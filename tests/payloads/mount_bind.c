// wall: seccomp  overlaps: capabilities, landlock  source: RT-19
// Binds one directory over another.
#include <sys/mount.h>

#include "attack.h"

int main(void) { return Attempt("mount", mount("/usr", "/tmp", NULL, MS_BIND | MS_REC, NULL)); }
