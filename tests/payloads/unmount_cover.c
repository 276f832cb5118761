// wall: seccomp  overlaps: capabilities, second-userns, landlock  source: kernel facts 4
// Takes away a mount that covers something. Argument: its mount point.
#include <sys/mount.h>

#include "attack.h"

int main(int argc, char** argv) {
  return Attempt("umount2", umount2(Argument(argc, argv, 1), MNT_DETACH));
}
