// wall: network-namespace  overlaps: -  source: O-04
// Connects to a listener on the host's loopback. Argument: port.
#include <arpa/inet.h>
#include <netinet/in.h>

#include "attack.h"

int main(int argc, char** argv) {
  struct sockaddr_in to = {.sin_family = AF_INET};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons((uint16_t)Number(argc, argv, 1));
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Stopped("socket");
  return Attempt("connect", connect(fd, (struct sockaddr*)&to, sizeof to));
}
