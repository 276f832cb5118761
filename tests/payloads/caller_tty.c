// wall: inner-pty  overlaps: descriptors, mounts  source: O-06
// Opens the caller's terminal by its name. Argument: its path.
#include "attack.h"

int main(int argc, char** argv) {
  struct stat wanted, own;
  const char* path = Argument(argc, argv, 1);
  int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return Stopped("open");
  if (fstat(fd, &wanted) != 0 || fstat(0, &own) != 0) return Cannot("fstat");
  if (argc > 2) return Succeeded("open");  // the control: it is the terminal
  errno = ENXIO;
  return wanted.st_dev == own.st_dev ? Stopped("it is the inner one") : Succeeded("open");
}
