// wall: mounts  overlaps: -  source: DESIGN 5
// Reads a file of the host that no view shows. Arguments: path, the token that stands in it.
#include "attack.h"

int main(int argc, char** argv) {
  const char* path = Argument(argc, argv, 1);
  const char* token = Argument(argc, argv, 2);
  char buffer[4096];
  if (ReadWhole(AT_FDCWD, path, buffer, sizeof buffer) < 0) return Stopped("open");
  if (strstr(buffer, token)) return Succeeded("read the token");
  errno = ENODATA;
  return Stopped("the file there is another one");
}
