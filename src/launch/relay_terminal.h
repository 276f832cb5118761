// launch/relay_terminal.h
// The caller's terminal during a job with an inner pty: raw while the job runs, its size carried
// in, and at the end modes that output may have left on are reset and answers still in flight
// swallowed (RT-28). The payload only ever holds the inner pty (O-06).
#pragma once

#include <optional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/terminal.h"

namespace bawn::launch {

class TerminalRelay {
 public:
  // `terminal` is the caller's (borrowed), `master` the inner pty's.
  static Result<TerminalRelay> Start(int terminal, UniqueFd master);
  void CarrySize();  // on SIGWINCH
  void Stop();
  int master() const { return master_.get(); }

 private:
  TerminalRelay(int terminal, UniqueFd master, sys::RawTerminal raw)
      : terminal_(terminal), master_(std::move(master)), raw_(std::move(raw)) {}
  int terminal_;
  UniqueFd master_;
  std::optional<sys::RawTerminal> raw_;
};

}  // namespace bawn::launch
