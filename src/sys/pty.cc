#include "sys/pty.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <string>

#include "sys/files.h"

namespace bawn::sys {

Result<Pty> OpenPty(std::string_view devpts, uint16_t rows, uint16_t columns) {
  Pty pty;
  std::string ptmx = std::string(devpts) + "/ptmx";
  pty.master = BAWN_TRY(Openat2(AT_FDCWD, ptmx, O_RDWR | O_NOCTTY, 0, kNoSymlinks));
  int unlocked = 0;
  if (ioctl(pty.master.get(), TIOCSPTLCK, &unlocked) < 0) return FailErrno(errno, "TIOCSPTLCK");
  int slave = ioctl(pty.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) return FailErrno(errno, "TIOCGPTPEER");
  pty.slave.Reset(slave);
  winsize size = {rows, columns, 0, 0};
  if (rows != 0 && columns != 0 && ioctl(slave, TIOCSWINSZ, &size) < 0) {
    return FailErrno(errno, "TIOCSWINSZ");
  }
  return pty;
}

Result<> TakeControllingTerminal(int slave_fd) {
  if (ioctl(slave_fd, TIOCSCTTY, 0) < 0) return FailErrno(errno, "TIOCSCTTY");
  return {};
}

}  // namespace bawn::sys
