// wall: seccomp  overlaps: capabilities, landlock  source: RT-19
// Changes the root. EINVAL or EBUSY: the right was given, only the arguments were unfit.
#include "attack.h"

int main(void) {
  long result = syscall(SYS_pivot_root, "/tmp", "/tmp");
  if (result < 0 && errno == EBUSY) errno = EINVAL;
  return Reached("pivot_root", result, EINVAL);
}
