// `bawn run`: the life of one run, as ARCHITECTURE.md tells it.
#include <utility>

#include "service/local.h"
#include "service/recover.h"
#include "service/session.h"
#include "sys/terminal.h"
#include "workspace/marker.h"

namespace bawn::service {
namespace {

bool WantsPty(const RunOptions& options) {
  if (options.tty) return *options.tty;
  return sys::IsTerminal(0) && sys::IsTerminal(1) && sys::IsTerminal(2);
}

// Nothing ran; what is left must not stay half-done. When this fails, the marker stays: the next
// command tries again and says so.
void CleanAfterFailure(const RunOptions& options, Session* session) {
  if (session->attached) return;  // its keeper has it
  if (options.in_sandbox.empty()) {
    (void)DropSandbox(session, std::string(session->dir.id));
    return;
  }
  session->opened.meta.state = "ended";  // as it was before this run
  bool clean = workspace::WriteMeta(session->dir, session->opened.meta, false) &&
               RemoveRuntimeParts(session->dir, true);
  if (clean) (void)workspace::Unmark(session->state, session->dir.id);
}

}  // namespace

Result<RunResult> LocalBawn::Run(const RunOptions& options, const Notice& notice) {
  Caller caller = BAWN_TRY(IdentifyCaller(environment_));
  bool pty = WantsPty(options);
  Session session =
      BAWN_TRY(options.in_sandbox.empty() ? PrepareSession(std::move(caller), options, pty, true)
                                          : ContinueSession(std::move(caller), options, pty));
  for (const std::string& note : session.opened.notes) notice(note);
  Result<launch::JobReport> report = ExecuteSession(&session, options);
  if (!report) {
    CleanAfterFailure(options, &session);
    return std::unexpected(report.error());
  }
  Result<RunResult> result = FinishSession(&session, options, *report);
  if (result && options.status_fd) AnnounceEnd(session, *result, *options.status_fd);
  // Others' interruptions are cleaned after this run's own work, off its path.
  Result<std::vector<std::string>> recovered = RecoverInterrupted(session.state);
  if (recovered) {
    for (const std::string& line : *recovered) notice(line);
  }
  return result;
}

Result<PlanResult> LocalBawn::Plan(const RunOptions& options) {
  Caller caller = BAWN_TRY(IdentifyCaller(environment_));
  Session session = BAWN_TRY(PrepareSession(std::move(caller), options, WantsPty(options), false));
  PlanResult result;
  result.plan = session.compiled.plan;
  result.job = session.compiled.job;
  result.decisions = session.compiled.decisions;
  result.notes = session.opened.notes;
  std::string id = session.dir.id;
  BAWN_CHECK_OK(DropSandbox(&session, id));
  return result;
}

std::unique_ptr<Bawn> MakeLocalBawn(std::vector<std::string> environment) {
  return std::make_unique<LocalBawn>(std::move(environment));
}

}  // namespace bawn::service
