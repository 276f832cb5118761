// cli/pager.h
// The pager of `bawn diff` on a terminal, and what it means that a reader has gone.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/console.h"

namespace bawn::cli {

// "$BAWN_PAGER", else "$PAGER", else "less" where PATH has it. Empty: none (not a terminal, "cat",
// or nothing found).
std::string PagerCommand(const Console& console);

// True when nothing can read from the other end of the pipe or socket `fd` any more.
bool ReaderGone(int fd);

// A started pager. While it lives, Ctrl-C belongs to it: this process ignores SIGINT and SIGQUIT,
// children started by sys::Spawn do not.
class Pager {
 public:
  static Result<Pager> Start(const Console& console, const std::string& command);
  Pager(Pager&&) noexcept = default;
  Pager& operator=(Pager&&) = delete;
  ~Pager();

  int text_fd() const { return text_.get(); }
  // Ends the text and waits until the user leaves the pager.
  Result<> Finish();

 private:
  Pager(UniqueFd text, UniqueFd pidfd) : text_(std::move(text)), pidfd_(std::move(pidfd)) {}
  UniqueFd text_;
  UniqueFd pidfd_;  // invalid once reaped
};

}  // namespace bawn::cli
