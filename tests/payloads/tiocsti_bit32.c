// wall: seccomp  overlaps: inner-pty  source: RT-06
// Types into the terminal, with a bit set that the kernel ignores, on every descriptor that may be
// one.
#include "attack.h"

int main(void) {
  int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
  int fds[] = {0, 1, 2, tty};
  for (size_t i = 0; i < sizeof fds / sizeof *fds; ++i) {
    int fd = fds[i];
    if (fd >= 0 && syscall(SYS_ioctl, fd, (1UL << 32) | TIOCSTI, "x") == 0)
      return Succeeded("typed");
  }
  return Stopped("TIOCSTI");
}
