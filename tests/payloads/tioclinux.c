// wall: seccomp  overlaps: inner-pty  source: RT-19
// Pastes into a virtual console. On a pty the driver answers ENOTTY: reached.
#include "attack.h"

int main(void) {
  char subcode = 3;  // paste the selection, drivers/tty/vt
  return Reached("TIOCLINUX", ioctl(0, TIOCLINUX, &subcode), ENOTTY);
}
