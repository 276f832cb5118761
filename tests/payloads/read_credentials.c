// wall: mounts  overlaps: -  source: RT-03
// Looks for a planted token at every path given. Arguments: token, paths.
#include "attack.h"

int main(int argc, char** argv) {
  const char* token = Argument(argc, argv, 1);
  char buffer[4096];
  for (int i = 2; i < argc; ++i) {
    if (ReadWhole(AT_FDCWD, argv[i], buffer, sizeof buffer) < 0) continue;
    if (strstr(buffer, token)) return Succeeded(argv[i]);
  }
  if (argc < 3) return Cannot("no paths");
  return Stopped("no path holds the token");
}
