// wall: overlay  overlaps: landlock  source: kernel facts 2
// Makes a node that an overlay reads as a deletion, to hide changes from the review.
#include <sys/sysmacros.h>

#include "attack.h"

int main(void) {
  int result = mknod("whiteout-by-attack", S_IFCHR, makedev(0, 0));
  if (result == 0) unlink("whiteout-by-attack");
  return Attempt("mknod", result);
}
