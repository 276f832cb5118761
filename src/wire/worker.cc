#include "wire/worker.h"

#include "sys/files.h"
#include "sys/sockets.h"
#include "wire/codec.h"

namespace bawn::wire {
namespace {

Result<std::string> ReadExactly(int fd, size_t size) {
  std::string bytes(size, '\0');
  size_t used = 0;
  while (used < size) {
    size_t got = BAWN_TRY(sys::Read(fd, bytes.data() + used, size - used));
    if (got == 0)
      return Fail(ErrorCode::kUnavailable, "the other end of the worker socket is gone");
    used += got;
  }
  return bytes;
}

}  // namespace

Result<> SendWorkerMessage(int fd, WorkerFrame frame, std::string_view json) {
  BAWN_ASSERT(json.size() <= kWorkerFrameBytesMax);
  Writer w;
  w.Enum(frame);
  w.Bytes(json);
  return sys::SendAll(fd, w.bytes());
}

Result<WorkerMessage> ReceiveWorkerMessage(int fd) {
  std::string head = BAWN_TRY(ReadExactly(fd, 5));
  Reader r(head);
  WorkerMessage message;
  message.frame = r.Enum(WorkerFrame::kLast);
  auto size = r.Uint<uint32_t>();
  if (!r.ok() || size > kWorkerFrameBytesMax) {
    return Fail(ErrorCode::kInternal, "malformed worker message");
  }
  message.json = BAWN_TRY(ReadExactly(fd, size));
  return message;
}

}  // namespace bawn::wire
