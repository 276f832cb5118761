// The table of ops, and the session around them.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "sys/files.h"
#include "wire/worker.h"
#include "worker/ops.h"
#include "worker/session.h"
#include "workspace/marker.h"
#include "workspace/remove.h"
#include "workspace/repository.h"

namespace bawn::worker {
namespace {

struct Row {
  std::string_view op;
  Result<Json> (*handler)(Session&);
  Lock lock;
  bool reads_tree = true;
  // Where it ended the sandbox, the caller removes the changes, after the answer: the marker stays
  // for him, or for the next command.
  bool removed_later = false;
};

constexpr std::array<Row, 5> kTable = {{
    {"changes", RunChanges, Lock::kIfFree},
    {"diff", RunDiff, Lock::kIfFree},
    {"publish", RunPublish, Lock::kRequired, true, true},
    {"apply", RunApply, Lock::kRequired, true, true},
    {"discard", RunDiscard, Lock::kRequired, false},
}};

std::string_view CodeName(ErrorCode code) {
  constexpr std::string_view kNames[] = {"invalid_argument",
                                         "not_found",
                                         "permission_denied",
                                         "failed_precondition",
                                         "conflict",
                                         "resource_exhausted",
                                         "deadline_exceeded",
                                         "unavailable",
                                         "system",
                                         "internal"};
  return kNames[static_cast<size_t>(code)];
}

std::string FailureText(const Error& error) {
  JsonObject json;
  // Messages quote names of the payload: whatever they hold, the frame is valid UTF-8.
  auto text = [](const std::string& value) {
    return IsValidUtf8(value) ? value : EscapeName(value);
  };
  json["message"] = text(error.message);
  json["hint"] = text(error.hint);
  json["rule"] = text(error.rule);
  json["kind"] = error.kind;
  json["code"] = CodeName(error.code);
  json["errno"] = error.sys_errno;
  return ToJsonText(Json(std::move(json)));
}

Result<const Row*> FindRow(const Json& request) {
  std::string op = BAWN_TRY(TextMember(request, "op"));
  std::vector<std::string_view> known;
  for (const Row& row : kTable) {
    if (row.op == op) return &row;
    known.push_back(row.op);
  }
  std::string near = Nearest(op, known);
  return Fail(ErrorCode::kInvalidArgument, "unknown op: " + EscapeName(op),
              near.empty() ? "" : "did you mean " + near + "?", "worker.op");
}

// Root reads and writes no tree of somebody else, and this one may have changed hands since the
// run.
Result<> CheckOwners(const workspace::SandboxDir& dir) {
  Result<workspace::SandboxMeta> meta = workspace::ReadMeta(dir);
  if (geteuid() != 0 || !meta) return {};
  for (const std::string& path : {meta->workspace_path, meta->git_dir, meta->common_dir}) {
    Result<sys::FileStat> st = sys::Fstatat(AT_FDCWD, path);
    if (st && st->uid != 0) return workspace::RefuseForeignTree(path, st->uid);
  }
  return {};
}

Result<> OpenSandbox(Session& session, const Row& row) {
  std::string path = BAWN_TRY(NameMember(session.request, "state"));
  std::string id = BAWN_TRY(TextMember(session.request, "sandbox"));
  session.state = BAWN_TRY(workspace::OpenStateDir(
      {.bawn_state_dir = path, .xdg_state_home = {}, .home = {}, .uid = geteuid()}));
  Result<workspace::SandboxDir> dir = workspace::OpenSandboxDir(session.state, id, true);
  bool live = !dir && dir.error().code == ErrorCode::kConflict;
  if (live && row.lock == Lock::kIfFree) {
    dir = workspace::OpenSandboxDir(session.state, id, false);
  }
  if (!dir) return std::unexpected(std::move(dir).error());
  session.dir = std::move(*dir);
  if (row.reads_tree) BAWN_CHECK_OK(CheckOwners(session.dir));
  if (row.lock == Lock::kRequired) session.marker = BAWN_TRY(workspace::Mark(session.state, id));
  return {};
}

// The act is over, carried out or not. What its end left undone is done here, or by the next
// command: then the marker stays.
Result<> Settle(Session& session, bool removed_later) {
  if (!session.marker.valid()) return {};
  if (session.dir.fd.valid()) {  // discard of a damaged one has taken it away
    // As it is on disk: a write whose fsync failed has been made.
    Result<workspace::SandboxMeta> meta = workspace::ReadMeta(session.dir);
    if (!meta && meta.error().sys_errno != 0) return std::unexpected(std::move(meta).error());
    bool ended = meta && workspace::IsEnded(meta->state);
    if (ended) BAWN_CHECK_OK(workspace::EndChanges(session.dir, *meta));
    if (ended && removed_later) return {};
    if (ended) BAWN_CHECK_OK(workspace::RemoveEnded(session.dir));
  }
  std::string id = BAWN_TRY(TextMember(session.request, "sandbox"));
  return workspace::Unmark(session.state, id);
}

// Before anything that a payload wrote is read. A meta.json that cannot be read is the handler's to
// report (discard removes it).
Result<> RaiseWalls(Session& session) {
  std::vector<std::string> writable = {session.state.path};
  Result<workspace::SandboxMeta> meta = workspace::ReadMeta(session.dir);
  if (meta) {
    for (const std::string& path : {meta->workspace_path, meta->git_dir, meta->common_dir}) {
      if (!path.empty()) writable.push_back(path);
    }
  }
  session.confined = BAWN_TRY(Confine(writable));
  return {};
}

Result<Json> Serve(Session& session) {
  wire::WorkerMessage message = BAWN_TRY(wire::ReceiveWorkerMessage(session.socket_fd));
  if (message.frame != wire::WorkerFrame::kRequest) {
    return Fail(ErrorCode::kInternal, "a session starts with a Request");
  }
  session.request = BAWN_TRY(ParseJson(message.json, {.bytes_max = wire::kWorkerFrameBytesMax}));
  const Row* row = BAWN_TRY(FindRow(session.request));
  BAWN_CHECK_OK(OpenSandbox(session, *row));
  BAWN_CHECK_OK(RaiseWalls(session));
  Result<Json> handled = row->handler(session);
  Result<> settled = Settle(session, handled && row->removed_later);
  if (handled && !settled) return std::unexpected(std::move(settled).error());
  Json answer = BAWN_TRY(std::move(handled));
  if (JsonObject* object = answer.AsObject()) (*object)["confined"] = ToJson(session.confined);
  return answer;
}

}  // namespace

int ServeSession(int socket_fd, int text_fd, int objects_fd) {
  Session session;
  session.objects_fd = objects_fd;
  session.socket_fd = socket_fd;
  session.text_fd = text_fd;
  Result<Json> answer = Serve(session);
  if (!answer && answer.error().kind == kUnanswered) return 1;
  // The other end may be gone by now; then there is nobody to tell.
  if (!answer) {
    (void)wire::SendWorkerMessage(socket_fd, wire::WorkerFrame::kFailed,
                                  FailureText(answer.error()));
    return 1;
  }
  Result<> sent = wire::SendWorkerMessage(socket_fd, wire::WorkerFrame::kDone, ToJsonText(*answer));
  return sent ? 0 : 1;
}

}  // namespace bawn::worker
