// wall: capabilities  overlaps: user-namespace, nodev  source: RT-24
// Makes a device node of the host's memory.
#include <sys/sysmacros.h>

#include "attack.h"

int main(void) {
  int result = mknod("node-by-attack", S_IFCHR | 0600, makedev(1, 1));
  if (result == 0) unlink("node-by-attack");
  return Attempt("mknod", result);
}
