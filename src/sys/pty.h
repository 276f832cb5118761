// sys/pty.h
// An inner pseudoterminal: made inside the sandbox's own devpts instance, in a session of its own,
// so that no terminal of the caller is ever within reach (CVE-2017-5226, TIOCSTI). Sources: pty(7),
// ioctl_tty(2) (TIOCGPTPEER, TIOCSPTLCK, TIOCSCTTY, TIOCSWINSZ).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::sys {

struct Pty {
  UniqueFd master;
  UniqueFd slave;
};
// `devpts` is where the instance is mounted. Sizes of 0 are left as the kernel has them.
Result<Pty> OpenPty(std::string_view devpts, uint16_t rows, uint16_t columns);
// The caller must lead a session without a terminal (setsid).
Result<> TakeControllingTerminal(int slave_fd);

}  // namespace bawn::sys
