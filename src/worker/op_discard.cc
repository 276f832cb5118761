#include <cerrno>
#include <utility>

#include "publish/finish.h"
#include "worker/session.h"
#include "workspace/remove.h"

namespace bawn::worker {

// The changes go for good; the receipt, the output and what an apply replaced stay for their time.
Result<Json> RunDiscard(Session& session) {
  JsonObject answer;
  answer["state"] = publish::kDiscarded;
  Result<workspace::SandboxMeta> meta = workspace::ReadMeta(session.dir);
  // What could not be read now may be read the next time; what is damaged stays so.
  if (!meta && meta.error().sys_errno != 0 && meta.error().sys_errno != ENOENT) {
    return std::unexpected(std::move(meta).error());
  }
  if (!meta) {
    // Nothing can say what this was, nor which repository holds its pin.
    BAWN_CHECK_OK(workspace::RemoveSandboxDir(session.state, std::move(session.dir)));
    return Json(std::move(answer));
  }
  session.meta = std::move(*meta);
  BAWN_CHECK_OK(TakeUp(session));
  if (!publish::IsEnded(session.meta.state)) {
    BAWN_CHECK_OK(publish::EndSandbox(session.dir, session.meta, publish::kDiscarded));
  }
  BAWN_CHECK_OK(workspace::SweepRemoved(session.state));
  answer["state"] = session.meta.state;
  return Json(std::move(answer));
}

}  // namespace bawn::worker
