// wall: network-namespace  overlaps: -  source: RT-12
// Sends a datagram to an echoing listener on the host's loopback. Argument: port.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/time.h>

#include "attack.h"

int main(int argc, char** argv) {
  struct sockaddr_in to = {.sin_family = AF_INET};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons((uint16_t)Number(argc, argv, 1));
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Stopped("socket");
  struct timeval wait = {.tv_sec = 1};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  if (connect(fd, (struct sockaddr*)&to, sizeof to) != 0) return Stopped("connect");
  if (send(fd, "x", 1, 0) != 1) return Stopped("send");
  char answer;
  return Attempt("recv", recv(fd, &answer, 1, 0));
}
