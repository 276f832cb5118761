#include "launch/relay_terminal.h"

#include <string_view>
#include <utility>

#include "sys/files.h"

namespace bawn::launch {
namespace {
// Leaves the alternate screen, shows the cursor, ends mouse reports and bracketed paste, resets
// attributes (xterm control sequences, DECRST).
constexpr std::string_view kResetModes =
    "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[0m";
}  // namespace

Result<TerminalRelay> TerminalRelay::Start(int terminal, UniqueFd master) {
  sys::RawTerminal raw = BAWN_TRY(sys::RawTerminal::Enter(terminal));
  TerminalRelay relay(terminal, std::move(master), std::move(raw));
  relay.CarrySize();
  return relay;
}

void TerminalRelay::CarrySize() {
  Result<sys::TerminalSize> size = sys::GetTerminalSize(terminal_);
  if (size) (void)sys::SetTerminalSize(master_.get(), *size);  // the job may have ended just now
}

void TerminalRelay::Stop() {
  if (!raw_) return;
  (void)sys::WriteAll(terminal_, kResetModes);  // the terminal may be gone
  raw_->Restore();
  raw_.reset();
}

}  // namespace bawn::launch
