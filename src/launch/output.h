// launch/output.h
// One output stream of a job: copied to the caller untouched, kept up to a bound (head and tail),
// counted beyond it. O(1) per chunk; memory is one chunk whatever the payload prints
// (O-21). The payload's bytes are never parsed. Recorded as: receipt `output.*`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"
#include "base/unique_fd.h"
#include "launch/terminal_filter.h"
#include "plan/receipt.h"

namespace bawn::launch {

inline constexpr uint64_t kKeptBytesDefault = 64ULL << 20;  // per stream: half head, half tail
inline constexpr int kWritePatienceMs = 50;  // a blocked caller delays deadlines by at most this

class OutputStream {
 public:
  struct Options {
    UniqueFd source;       // our end of the job's pipe; made non-blocking
    int destination = -1;  // borrowed: the caller's descriptor; -1 none
    int log_dir = -1;      // borrowed: where the log is kept; -1 none
    std::string log_name;  // "out.log"
    uint64_t kept_bytes_max = kKeptBytesDefault;
    bool to_terminal = false;  // filtered on its way to the caller (launch/terminal_filter.h)
  };
  static Result<OutputStream> Open(Options options);
  OutputStream(OutputStream&&) = default;
  OutputStream& operator=(OutputStream&&) = default;

  // Moves one chunk. After it `blocked()` or `ended()` may hold.
  Result<> Pump();
  bool ended() const { return ended_; }  // the payload's side is closed and all is delivered
  bool blocked() const { return !pending().empty() || splice_blocked_; }
  bool destination_broken() const { return broken_; }
  int destination_errno() const { return broken_errno_; }  // EPIPE: nobody reads any more
  int source() const { return options_.source.get(); }
  int destination() const { return options_.destination; }
  uint64_t total() const { return total_; }  // bytes that came so far
  bool moved() const { return moved_; }      // something came in the last Pump (idle limit)

  // Ends the log (head, then tail in order) and gives the record.
  Result<plan::StreamReport> Finish();

 private:
  explicit OutputStream(Options options) : options_(std::move(options)) {}
  Result<> Splice();
  Result<> Deliver();
  void Drop();
  Result<> Keep(std::string_view bytes);
  Result<> AppendTail();

  Options options_;
  TerminalFilter filter_;
  UniqueFd log_, tail_;
  // Read, not yet taken by the caller: a part of the chunk, or of what the filter made of it.
  std::string_view pending() const {
    return (options_.to_terminal ? std::string_view(filtered_) : chunk()).substr(pending_at_);
  }
  std::string_view chunk() const { return {chunk_.get(), chunk_size_}; }

  std::unique_ptr<char[]> chunk_;  // never zeroed: a quiet job must not pay for a loud one's pages
  size_t chunk_size_ = 0;
  std::string filtered_;
  size_t pending_at_ = 0;
  Sha256 hash_;
  uint64_t total_ = 0;
  uint64_t head_max_ = 0, tail_max_ = 0;
  bool ended_ = false, broken_ = false, moved_ = false, splice_blocked_ = false;
  bool can_splice_ = true;
  int broken_errno_ = 0;
};

}  // namespace bawn::launch
