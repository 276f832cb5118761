// wall: seccomp  overlaps: capabilities, second-userns, landlock  source: kernel facts 4
// Makes a read-only mount writable. Argument: its mount point.
#include <sys/mount.h>

#include "attack.h"

int main(int argc, char** argv) {
  const char* path = Argument(argc, argv, 1);
  return Attempt("mount", mount(NULL, path, NULL, MS_REMOUNT | MS_BIND, NULL));
}
