// sys/events.h
// Waiting: poll(2) over borrowed descriptors, signals as a descriptor, and writes that a timer can
// interrupt, so that a caller whose output is blocked still keeps its deadlines.
// Threads: one; BlockSignals changes the process's mask. Sources: poll(2), signalfd(2),
// setitimer(2).
#pragma once

#include <poll.h>
#include <signal.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::sys {

// Fills `revents`. `timeout_ms` -1 waits for ever. EINTR returns 0 ready descriptors.
Result<int> Poll(std::vector<pollfd>* items, int timeout_ms);

// Blocks the signals and gives them as reads of the descriptor. The old mask comes back when the
// object dies.
class SignalSet {
 public:
  static Result<SignalSet> Block(const std::vector<int>& signals);
  SignalSet(SignalSet&&) noexcept = default;
  SignalSet& operator=(SignalSet&&) = delete;
  ~SignalSet();
  int fd() const { return fd_.get(); }
  int Next();  // the next pending signal's number, 0 when there is none

 private:
  explicit SignalSet(UniqueFd fd, sigset_t old) : fd_(std::move(fd)), old_(old) {}
  UniqueFd fd_;
  sigset_t old_;
};

// Writes as much as goes within about `patience_ms` (a blocked write is interrupted by SIGALRM,
// whose handler does nothing). Gives the bytes written, 0 when nothing went; errors as errno.
Result<size_t> WriteWithPatience(int fd, std::string_view bytes, int patience_ms);

// splice(2) between two descriptors of which one is a pipe, with the same patience. Gives 0 at the
// end of input or when nothing went in time (`*blocked` tells). EINVAL: this pair cannot be
// spliced.
Result<size_t> SpliceWithPatience(int from, int to, size_t size, int patience_ms, bool* blocked);

void SleepMs(int ms);

// Puts SIGPIPE to "ignore" for the process; children of ours get default actions anyway.
void IgnoreSigpipe();

}  // namespace bawn::sys
