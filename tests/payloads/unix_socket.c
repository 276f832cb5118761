// wall: mounts  overlaps: -  source: RT-05
// Connects to a listening socket of the host in the file system. Argument: path.
#include <sys/un.h>

#include "attack.h"

int main(int argc, char** argv) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  strncpy(to.sun_path, Argument(argc, argv, 1), sizeof to.sun_path - 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Stopped("socket");
  return Attempt("connect", connect(fd, (struct sockaddr*)&to, sizeof to));
}
