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
  if (!meta) {
    // Nothing can say what this was; the pin ref is left to the recovery that lists the refs.
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
