// wall: seccomp  overlaps: -  source: RT-06
// Opens AF_VSOCK with a bit set that the kernel ignores.
#include "attack.h"

int main(void) {
  return Attempt("socket",
                 syscall(SYS_socket, (1UL << 32) | AF_VSOCK, (unsigned long)SOCK_STREAM, 0UL));
}
