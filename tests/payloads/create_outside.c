// wall: mounts  overlaps: landlock  source: DESIGN 5
// Creates a file in a directory of the host. Argument: the path to create.
#include "attack.h"

int main(int argc, char** argv) {
  const char* path = Argument(argc, argv, 1);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Stopped("create");
  unlink(path);
  return Succeeded("create");
}
