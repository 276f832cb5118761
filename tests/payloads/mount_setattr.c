// wall: seccomp  overlaps: capabilities, second-userns  source: kernel facts 4
// Clears the read-only flag of a mount. Argument: its mount point.
#include "attack.h"

int main(int argc, char** argv) {
  struct {
    uint64_t set, clear, propagation, userns_fd;
  } attributes = {0, 1, 0, 0};  // MOUNT_ATTR_RDONLY
  return Attempt("mount_setattr", syscall(442, AT_FDCWD, Argument(argc, argv, 1), 0, &attributes,
                                          sizeof attributes));
}
