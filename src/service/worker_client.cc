#include "service/worker_client.h"

#include <array>
#include <utility>

#include "sys/files.h"
#include "sys/processes.h"
#include "sys/sockets.h"
#include "wire/worker.h"

namespace bawn::service {
namespace {

// Every code a worker may send back, by its word.
constexpr std::array<std::pair<std::string_view, ErrorCode>, 10> kCodes = {{
    {"invalid_argument", ErrorCode::kInvalidArgument},
    {"not_found", ErrorCode::kNotFound},
    {"permission_denied", ErrorCode::kPermissionDenied},
    {"failed_precondition", ErrorCode::kFailedPrecondition},
    {"conflict", ErrorCode::kConflict},
    {"resource_exhausted", ErrorCode::kResourceExhausted},
    {"deadline_exceeded", ErrorCode::kDeadlineExceeded},
    {"unavailable", ErrorCode::kUnavailable},
    {"system", ErrorCode::kSystem},
    {"internal", ErrorCode::kInternal},
}};

std::unexpected<Error> FromWorker(const Json& json) {
  Error error;
  std::string code = json.GetString("code", "internal");
  for (auto [word, value] : kCodes) {
    if (word == code) error.code = value;
  }
  error.message = json.GetString("message", "bawn-worker failed without a message");
  error.hint = json.GetString("hint");
  error.rule = json.GetString("rule");
  error.sys_errno = static_cast<int>(json.GetInt("errno"));
  return std::unexpected(std::move(error));
}

Result<wire::WorkerMessage> Exchange(int socket, wire::WorkerFrame frame, std::string_view json) {
  BAWN_CHECK_OK(wire::SendWorkerMessage(socket, frame, json));
  return wire::ReceiveWorkerMessage(socket);
}

}  // namespace

Result<Json> CallWorker(const Caller& caller, JsonObject request, int text_fd,
                        const std::function<bool(const Json&)>& confirm, int objects_fd) {
  UniqueFd program = BAWN_TRY(sys::OpenSibling("bawn-worker"));
  auto [ours, theirs] = BAWN_TRY(sys::StreamPair());
  UniqueFd null = BAWN_TRY(sys::Openat2(AT_FDCWD, "/dev/null", O_RDWR));
  sys::SpawnSpec spec;
  spec.program_fd = program.get();
  spec.argv = {"bawn-worker"};
  // Git's own identity and configuration variables were read by us; the worker needs none of them.
  spec.envp = {"HOME=" + caller.home, "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  spec.fds = {null.get(), text_fd >= 0 ? text_fd : null.get(), 2, theirs.get()};
  if (objects_fd >= 0) spec.fds.push_back(objects_fd);
  sys::Child child = BAWN_TRY(sys::Spawn(spec));
  theirs.Reset();

  Result<wire::WorkerMessage> answer =
      Exchange(ours.get(), wire::WorkerFrame::kRequest, ToJsonText(Json(std::move(request))));
  bool refused = false;
  if (answer && answer->frame == wire::WorkerFrame::kPrepared) {
    Result<Json> prepared = ParseJson(answer->json, {.bytes_max = wire::kWorkerFrameBytesMax});
    refused = !prepared || !confirm || !confirm(*prepared);
    if (!refused) answer = Exchange(ours.get(), wire::WorkerFrame::kCommit, "{}");
  }
  ours.Reset();  // an unanswered prepare leaves nothing
  bool ended = false;
  Result<sys::Exit> exit = sys::WaitPidfd(child.pidfd.get(), true, &ended);
  if (refused) {
    return Fail(ErrorCode::kFailedPrecondition, "not confirmed: nothing was done", {},
                "confirm.refused");
  }
  if (!answer) {
    std::string status = exit ? std::to_string(exit->status) : "unknown";
    return Fail(ErrorCode::kInternal,
                "bawn-worker ended without an answer (wait status " + status + ")",
                "nothing half-done stays: repeat the command; report this if it persists");
  }
  Json json = BAWN_TRY(ParseJson(answer->json, {.bytes_max = wire::kWorkerFrameBytesMax}));
  if (answer->frame != wire::WorkerFrame::kDone) return FromWorker(json);
  return json;
}

}  // namespace bawn::service
