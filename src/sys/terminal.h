// sys/terminal.h
// The caller's terminal while an inner pty is copied to it: raw mode, size, and a restore that also
// swallows answers still in flight (RT-28). Sources: termios(3), ioctl_tty(2).
#pragma once

#include <termios.h>

#include <cstdint>
#include <utility>

#include "base/result.h"

namespace bawn::sys {

bool IsTerminal(int fd);

struct TerminalSize {
  uint16_t rows = 0;
  uint16_t columns = 0;
};
Result<TerminalSize> GetTerminalSize(int fd);
Result<> SetTerminalSize(int fd, TerminalSize size);

// Raw mode for the life of the object; the destructor restores with TCSAFLUSH.
class RawTerminal {
 public:
  static Result<RawTerminal> Enter(int fd);
  RawTerminal(RawTerminal&& other) noexcept : fd_(std::exchange(other.fd_, -1)), old_(other.old_) {}
  RawTerminal& operator=(RawTerminal&&) = delete;
  ~RawTerminal() { Restore(); }
  void Restore();

 private:
  RawTerminal(int fd, const termios& old) : fd_(fd), old_(old) {}
  int fd_ = -1;
  termios old_ = {};
};

}  // namespace bawn::sys
