#include "launch/output.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sys/events.h"
#include "sys/files.h"
#include "sys/sockets.h"

namespace bawn::launch {
namespace {
constexpr size_t kChunkBytes = 256 << 10;
constexpr int kPipeBytes = 1 << 20;
}  // namespace

Result<OutputStream> OutputStream::Open(Options options) {
  OutputStream stream(std::move(options));
  Options& own = stream.options_;
  BAWN_CHECK_OK(sys::SetNonBlocking(own.source.get(), true));
  // A larger pipe means fewer turns; the default is kept when the user's pipe budget is used up.
  (void)sys::SetPipeSize(own.source.get(), kPipeBytes);
  stream.tail_max_ = own.kept_bytes_max / 2;
  stream.head_max_ = own.kept_bytes_max - stream.tail_max_;
  return stream;
}

Result<> OutputStream::Pump() {
  moved_ = false;
  splice_blocked_ = false;
  if (ended_) return {};
  if (!pending().empty()) return Deliver();
  bool untouched = options_.log_dir < 0 && !options_.to_terminal;  // nobody here needs the bytes
  if (untouched && options_.destination >= 0 && can_splice_ && !broken_) return Splice();
  if (!chunk_) chunk_ = std::make_unique_for_overwrite<char[]>(kChunkBytes);
  Result<size_t> got = sys::Read(options_.source.get(), chunk_.get(), kChunkBytes);
  if (!got && got.error().sys_errno == EAGAIN) return {};
  // EIO: the last writer of a pty closed it; the same as end of file.
  if (!got && got.error().sys_errno != EIO) return std::unexpected(got.error());
  if (!got || *got == 0) {
    ended_ = true;
    return {};
  }
  moved_ = true;
  chunk_size_ = *got;
  BAWN_CHECK_OK(Keep(chunk()));
  total_ += chunk_size_;
  if (options_.to_terminal) filtered_ = filter_.Pass(chunk());
  pending_at_ = 0;
  if (options_.destination >= 0 && !broken_) return Deliver();
  Drop();
  return {};
}

void OutputStream::Drop() {
  chunk_size_ = pending_at_ = 0;
  filtered_.clear();
}

Result<> OutputStream::Deliver() {
  Result<size_t> done = sys::WriteWithPatience(options_.destination, pending(), kWritePatienceMs);
  if (!done) {
    // Nobody reads (EPIPE) or the device failed: the run ends, what was kept stays.
    broken_ = true;
    broken_errno_ = done.error().sys_errno;
    Drop();
    return {};
  }
  pending_at_ += *done;
  if (pending().empty()) Drop();
  return {};
}

Result<> OutputStream::Splice() {
  bool blocked = false;
  Result<size_t> done = sys::SpliceWithPatience(options_.source.get(), options_.destination,
                                                kPipeBytes, kWritePatienceMs, &blocked);
  if (!done && done.error().sys_errno == EINVAL) {
    can_splice_ = false;  // a terminal, an O_APPEND file
    return {};
  }
  if (!done) {
    broken_ = true;
    broken_errno_ = done.error().sys_errno;
    return {};
  }
  if (blocked) {
    splice_blocked_ = true;
  } else if (*done == 0) {
    ended_ = true;
  } else {
    moved_ = true;
    total_ += *done;
  }
  return {};
}

// Head bytes go to the log, what follows into a ring of `tail_max_` bytes in a nameless file.
Result<> OutputStream::Keep(std::string_view bytes) {
  if (options_.log_dir < 0) return {};
  if (!log_.valid()) {  // made with the first byte: a silent job leaves no file
    log_ = BAWN_TRY(sys::Openat2(options_.log_dir, options_.log_name,
                                 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  }
  uint64_t at = total_;
  if (at < head_max_) {
    std::string_view head = bytes.substr(0, head_max_ - at);
    BAWN_CHECK_OK(sys::Pwrite(log_.get(), head, at));
    hash_.Update(head);
    bytes.remove_prefix(head.size());
    at += head.size();
  }
  if (bytes.empty() || tail_max_ == 0) return {};
  if (!tail_.valid()) {
    tail_ = BAWN_TRY(sys::Openat2(options_.log_dir, ".", O_RDWR | O_TMPFILE, 0600));
  }
  while (!bytes.empty()) {
    uint64_t place = (at - head_max_) % tail_max_;
    std::string_view part = bytes.substr(0, tail_max_ - place);
    BAWN_CHECK_OK(sys::Pwrite(tail_.get(), part, place));
    bytes.remove_prefix(part.size());
    at += part.size();
  }
  return {};
}

Result<> OutputStream::AppendTail() {
  uint64_t after_head = total_ - head_max_;
  uint64_t size = std::min(after_head, tail_max_);
  uint64_t from = after_head > tail_max_ ? after_head % tail_max_ : 0;
  std::string buffer;
  for (uint64_t done = 0; done < size;) {
    uint64_t place = (from + done) % tail_max_;
    size_t want =
        static_cast<size_t>(std::min({uint64_t{kChunkBytes}, size - done, tail_max_ - place}));
    buffer.resize(want);
    size_t got = BAWN_TRY(sys::Pread(tail_.get(), buffer.data(), want, place));
    if (got == 0) return Fail(ErrorCode::kInternal, "the kept output is shorter than counted");
    std::string_view bytes(buffer.data(), got);
    BAWN_CHECK_OK(sys::Pwrite(log_.get(), bytes, head_max_ + done));
    hash_.Update(bytes);
    done += got;
  }
  return {};
}

Result<plan::StreamReport> OutputStream::Finish() {
  plan::StreamReport report;
  report.bytes_total = total_;
  if (options_.log_dir < 0) return report;
  if (total_ > head_max_ && tail_.valid()) BAWN_CHECK_OK(AppendTail());
  report.truncated = total_ > head_max_ + tail_max_;
  report.sha256 = hash_.Hex();
  return report;
}

}  // namespace bawn::launch
