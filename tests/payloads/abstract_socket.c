// wall: network-namespace  overlaps: landlock  source: O-07
// Connects to a listening abstract socket of the host. Argument: name.
#include <stddef.h>
#include <sys/un.h>

#include "attack.h"

int main(int argc, char** argv) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  const char* name = Argument(argc, argv, 1);
  strncpy(to.sun_path + 1, name, sizeof to.sun_path - 2);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Stopped("socket");
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
  return Attempt("connect", connect(fd, (struct sockaddr*)&to, size));
}
