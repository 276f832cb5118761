// wall: descriptors  overlaps: landlock  source: RT-07
// Reopens the caller's output file through /proc/self/fd with rights it was not given.
#include "attack.h"

int main(void) {
  struct stat before;
  if (fstat(1, &before) != 0) return Cannot("fstat");
  if (!S_ISREG(before.st_mode)) {
    fprintf(stderr, "stdout is no file of the caller\n");
    errno = EPIPE;
    return Stopped("stdout");
  }
  return Attempt("reopen", open("/proc/self/fd/1", O_RDWR | O_CLOEXEC));
}
