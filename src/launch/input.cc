#include "launch/input.h"

#include <cerrno>

#include "sys/events.h"
#include "sys/files.h"

namespace bawn::launch {
namespace {
constexpr size_t kChunkBytes = 16 << 10;
constexpr int kPatienceMs = 20;
}  // namespace

Result<> InputStream::OnSource() {
  std::string chunk(kChunkBytes, '\0');
  Result<size_t> got = sys::Read(source_, chunk.data(), chunk.size());
  if (!got && got.error().sys_errno == EAGAIN) return {};
  if (!got || *got == 0) {
    sink_.Reset();  // end of input, or a terminal that went away
    return {};
  }
  chunk.resize(*got);
  pending_ = std::move(chunk);
  moved_ = true;
  return OnSink();
}

Result<> InputStream::OnSink() {
  Result<size_t> done = sys::WriteWithPatience(sink_.get(), pending_, kPatienceMs);
  if (!done) {
    sink_.Reset();  // the job closed its input: what follows is nobody's
    pending_.clear();
    return {};
  }
  pending_.erase(0, *done);
  return {};
}

}  // namespace bawn::launch
