// wall: descriptors  overlaps: mounts  source: RT-07
// Looks for any descriptor beyond the three standard ones.
#include "attack.h"

int main(void) {
  for (int fd = 3; fd < 4096; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) {
      printf("fd %d\n", fd);
      return Succeeded("holds a descriptor of somebody else");
    }
  }
  return Stopped("fcntl");
}
