// wall: capabilities  overlaps: user-namespace  source: RT-35
// Sets an attribute that only the system may set.
#include <sys/xattr.h>

#include "attack.h"

int main(void) {
  int fd = open("xattr-by-attack", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return Cannot("open");
  int result = fsetxattr(fd, "trusted.overlay.opaque", "y", 1, 0);
  unlink("xattr-by-attack");
  return Attempt("fsetxattr", result);
}
