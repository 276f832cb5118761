// wall: network-namespace  overlaps: -  source: O-04
// Connects to a listener on the host's IPv6 loopback. Argument: port.
#include <arpa/inet.h>
#include <netinet/in.h>

#include "attack.h"

int main(int argc, char** argv) {
  struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  to.sin6_port = htons((uint16_t)Number(argc, argv, 1));
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Stopped("socket");
  return Attempt("connect", connect(fd, (struct sockaddr*)&to, sizeof to));
}
