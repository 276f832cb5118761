// wire/worker.h
// What crosses between a bawn program and bawn-worker: length-prefixed messages on one socket
// (descriptor 3 of the worker). A session is one Request, then, for publish and apply, one Prepared
// answer, one Commit (or the end of the socket: nothing has happened), and one Done. All other ops
// answer Done at once. Text of a diff goes to the worker's descriptor 1, never through the socket.
// The worker parses hostile names and content, so its answers are JSON read under limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bawn::wire {

enum class WorkerFrame : uint8_t { kRequest, kPrepared, kCommit, kDone, kFailed, kLast = kFailed };

inline constexpr size_t kWorkerFrameBytesMax = 64 << 20;

struct WorkerMessage {
  WorkerFrame frame = WorkerFrame::kFailed;
  std::string json;  // one JSON object; its members are documented in worker/ops.h
};

Result<> SendWorkerMessage(int fd, WorkerFrame frame, std::string_view json);
// kUnavailable when the peer closed before a whole message.
Result<WorkerMessage> ReceiveWorkerMessage(int fd);

}  // namespace bawn::wire
