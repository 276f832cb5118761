// `bawn run`: the life of one run, as ARCHITECTURE.md tells it.
#include <utility>

#include "launch/kept.h"
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
  bool made_here = options.in_sandbox.empty();
  if (session->attached && !made_here) return;  // its keeper has it
  if (session->attached && !EndLive(session->state, session->dir.id)) return;
  if (made_here) {
    (void)DropSandbox(session, std::string(session->dir.id));
    return;
  }
  session->opened.meta.state = "ended";  // as it was before this run
  bool clean = workspace::WriteMeta(session->dir, session->opened.meta, false) &&
               RemoveRuntimeParts(session->dir, true);
  if (clean) (void)workspace::Unmark(session->state, session->dir.id);
}

// A live sandbox that this run lost is recovered with the others' interruptions, as soon as its
// keeper is gone. What this run made ends with it; another's may have outlived the connection.
void EndLost(const RunOptions& options, Session* session) {
  bool made_here = options.in_sandbox.empty();
  Result<bool> ended = made_here ? EndLive(session->state, session->dir.id) : Result<bool>(false);
  if (ended && !*ended && !launch::ConnectKeeper(session->dir.fd.get())) {
    WaitForKeeper(session->state, session->dir.id);
  }
  session->marker.Reset();
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
  bool lost = session.attached && report->lost;
  Result<RunResult> result = FinishSession(&session, options, *report);
  if (lost) EndLost(options, &session);
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
