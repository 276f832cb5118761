// wall: rlimits  overlaps: -  source: RT-22
// Looks whether a crash would hand memory to the host: RLIMIT_CORE must be 1, hard too.
#include <sys/resource.h>

#include "attack.h"

int main(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return Cannot("getrlimit");
  errno = EPERM;
  return limit.rlim_max == 1 && limit.rlim_cur == 1 ? Stopped("limit is 1") : Succeeded("dumps");
}
