#include "sys/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sys {

bool IsTerminal(int fd) { return isatty(fd) == 1; }

Result<TerminalSize> GetTerminalSize(int fd) {
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) < 0) return FailErrno(errno, "ioctl(TIOCGWINSZ)");
  return TerminalSize{size.ws_row, size.ws_col};
}

Result<> SetTerminalSize(int fd, TerminalSize size) {
  winsize value = {size.rows, size.columns, 0, 0};
  if (ioctl(fd, TIOCSWINSZ, &value) < 0) return FailErrno(errno, "ioctl(TIOCSWINSZ)");
  return {};
}

Result<RawTerminal> RawTerminal::Enter(int fd) {
  termios old = {};
  if (tcgetattr(fd, &old) < 0) return FailErrno(errno, "tcgetattr");
  termios raw = old;
  cfmakeraw(&raw);
  if (tcsetattr(fd, TCSADRAIN, &raw) < 0) return FailErrno(errno, "tcsetattr");
  return RawTerminal(fd, old);
}

void RawTerminal::Restore() {
  if (fd_ < 0) return;
  tcsetattr(fd_, TCSAFLUSH, &old_);
  fd_ = -1;
}

}  // namespace bawn::sys
