// wall: seccomp  overlaps: -  source: RT-06
// Opens NETLINK_NETFILTER with a bit set that the kernel ignores.
#include "attack.h"

int main(void) {
  return Attempt("socket", syscall(SYS_socket, (unsigned long)AF_NETLINK, (unsigned long)SOCK_RAW,
                                   (1UL << 32) | 12UL));
}
