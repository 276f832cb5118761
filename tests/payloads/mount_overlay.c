// wall: seccomp  overlaps: capabilities, landlock  source: RT-19
// Mounts an overlay with options of its own.
#include <sys/mount.h>

#include "attack.h"

int main(void) {
  return Attempt("mount", mount("none", "/tmp", "overlay", 0, "lowerdir=/usr/bin:/usr/lib"));
}
