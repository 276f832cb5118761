// cli/console.h
// Where a command's words go. Human text goes to stderr, answers to stdout; what came from outside
// is made terminal-safe here, so that no command has to remember it.
// Descriptors are borrowed. Threads: one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bawn::cli {

struct Console {
  int in_fd = 0;
  int out_fd = 1;
  int err_fd = 2;
  bool in_terminal = false, out_terminal = false, err_terminal = false;
  std::string tty_path = "/dev/tty";     // where questions are asked
  std::vector<std::string> environment;  // "NAME=value"

  std::string Env(std::string_view name) const;  // empty when unset
  bool Colour() const;  // stdout is a terminal, NO_COLOR is empty (no-color.org), TERM not dumb
  bool MayAsk() const { return in_terminal && err_terminal; }

  // All of `text` to stdout. EPIPE is a kSystem error like any other.
  Result<> Out(std::string_view text) const;
  // "bawn: LINE" to stderr. A stderr that is gone stops nothing.
  void Say(std::string_view line) const;
  // bawn: message
  //   rule: ...
  //   hint: ...
  void SayError(const Error& error) const;
};

}  // namespace bawn::cli
