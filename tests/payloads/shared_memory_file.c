// wall: mounts  overlaps: -  source: DESIGN 5
// Reads the host's /dev/shm. Arguments: path there, token.
#include "attack.h"

int main(int argc, char** argv) {
  char buffer[4096];
  if (ReadWhole(AT_FDCWD, Argument(argc, argv, 1), buffer, sizeof buffer) < 0) {
    return Stopped("open");
  }
  errno = ENODATA;
  return strstr(buffer, Argument(argc, argv, 2)) ? Succeeded("read") : Stopped("another file");
}
