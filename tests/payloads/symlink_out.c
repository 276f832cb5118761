// wall: mounts  overlaps: -  source: O-13
// Reads a file of the host through a symlink made inside. Arguments: path, token.
#include "attack.h"

int main(int argc, char** argv) {
  char buffer[4096];
  unlink("link-by-attack");
  if (symlink(Argument(argc, argv, 1), "link-by-attack") != 0) return Cannot("symlink");
  ssize_t count = ReadWhole(AT_FDCWD, "link-by-attack", buffer, sizeof buffer);
  int saved = errno;
  unlink("link-by-attack");
  errno = count < 0 ? saved : ENODATA;
  return count >= 0 && strstr(buffer, Argument(argc, argv, 2)) ? Succeeded("read")
                                                               : Stopped("open the link");
}
