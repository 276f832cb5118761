// wall: mounts  overlaps: -  source: RT-05
// Writes into a FIFO that a process of the host reads. Argument: path.
#include "attack.h"

int main(int argc, char** argv) {
  int fd = open(Argument(argc, argv, 1), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return Stopped("open");
  return Attempt("write", write(fd, "x", 1));
}
