// `--keep` and `--in`: sandboxes that outlive the command that made them.
#include <fcntl.h>

#include <utility>

#include "contain/plan_codec.h"
#include "launch/keeper.h"
#include "launch/kept.h"
#include "service/durable.h"
#include "service/recover.h"
#include "service/root_mode.h"
#include "service/select.h"
#include "service/session.h"
#include "sys/events.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "sys/sockets.h"
#include "workspace/marker.h"

namespace bawn::service {
namespace {

// What is decided when a sandbox is made cannot be changed by a later job in it.
Result<> RefuseViewOptions(const RunOptions& options) {
  bool any = !options.ro.empty() || !options.rw.empty() || !options.hide.empty() ||
             !options.show.empty() || !options.secrets.empty() || options.ephemeral;
  if (!any) return {};
  return Fail(ErrorCode::kFailedPrecondition,
              "the view of a live sandbox is fixed: --ro, --rw, --hide, --show, --secret and "
              "--ephemeral belong to the run that makes it",
              "start a new one with these options, or end this one first: bawn discard",
              "in.view_fixed");
}

Result<> JoinLive(const RunOptions& options, bool pty, UniqueFd keeper, Session* session) {
  BAWN_CHECK_OK(RefuseViewOptions(options));
  session->keeper = std::move(keeper);
  session->attached = true;
  BAWN_CHECK_OK(ChooseLevel(options, session));
  session->opened.facts.path = session->level == plan::Level::kRestricted
                                   ? session->dir.path + "/layers/0/upper"
                                   : session->opened.meta.workspace_path;
  session->opened.facts.rung = session->opened.meta.rung;
  return CompileSession(options, pty, session);
}

Result<> MountAgain(const RunOptions& options, bool pty, Session* session) {
  if (IsRootMode(session->caller)) {  // it may have changed hands since
    BAWN_CHECK_OK(CheckRootTree(session->opened.meta.workspace_path));
  }
  BAWN_CHECK_OK(NoteLostWriteBack(session->dir, &session->opened.meta));
  BAWN_CHECK_OK(WaitForWriteBack(session->dir));
  session->marker = BAWN_TRY(workspace::Mark(session->state, session->dir.id));
  BAWN_CHECK_OK(ChooseLevel(options, session));
  workspace::SandboxMeta meta = session->opened.meta;
  if (!meta.common_dir.empty()) {
    session->repository = BAWN_TRY(workspace::FindRepository(meta.workspace_path));
  }
  workspace::OpenRequest request = MakeOpenRequest(*session, options, meta.workspace_path);
  request.git_config = BAWN_TRY(workspace::ReadGitConfig(session->repository, session->caller.home,
                                                         session->caller.environment));
  session->opened = BAWN_TRY(workspace::Reopen(session->dir, meta, request));
  BAWN_CHECK_OK(CompileSession(options, pty, session));
  session->opened.meta.state = "running";
  (*session->opened.meta.extra.AsObject())["level"] = plan::LevelName(session->level);
  session->opened.meta.command = session->compiled.job.argv;
  if (std::string lost = LostWriteBack(meta); !lost.empty()) session->opened.notes.push_back(lost);
  NameWitnesses(session);
  return PlaceWitnesses(session);
}

}  // namespace

Result<Session> ContinueSession(Caller caller, const RunOptions& options, bool pty) {
  Session session;
  session.caller = std::move(caller);
  session.pty = pty;
  session.state = BAWN_TRY(OpenState(session.caller));
  BAWN_CHECK_OK(RecoverInterrupted(session.state));
  SandboxSelector selector{options.in_sandbox, options.workspace};
  std::optional<workspace::SandboxMeta> live =
      BAWN_TRY(FindLive(session.state, options.in_sandbox));
  session.opened.meta =
      live ? *std::move(live)
           : BAWN_TRY(SelectSandbox(session.caller, session.state, selector, Meaning::kAct));
  session.policy = BAWN_TRY(LoadProfile(session.caller, session.state, options.profile));
  const std::string& id = session.opened.meta.id;
  session.dir = BAWN_TRY(workspace::OpenSandboxDir(session.state, id, false));
  Result<UniqueFd> keeper = launch::ConnectKeeper(session.dir.fd.get());
  if (keeper) {
    BAWN_CHECK_OK(JoinLive(options, pty, std::move(*keeper), &session));
    return session;
  }
  session.dir = BAWN_TRY(workspace::OpenSandboxDir(session.state, id, true));
  BAWN_CHECK_OK(MountAgain(options, pty, &session));
  return session;
}

Result<bool> EndLive(const workspace::StateDir& state, const std::string& id) {
  workspace::SandboxDir dir = BAWN_TRY(workspace::OpenSandboxDir(state, id, false));
  Result<> ended = launch::EndKept(dir.fd.get(), launch::kGoneDeadlineMs);
  if (!ended && ended.error().code == ErrorCode::kUnavailable) return false;
  BAWN_CHECK_OK(ended);
  WaitForKeeper(state, id);
  return true;
}

// The keeper's connections close just before its lock does.
void WaitForKeeper(const workspace::StateDir& state, const std::string& id) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    if (workspace::OpenSandboxDir(state, id, true)) return;
    sys::SleepMs(10);
  }
}

Result<> StartKeeper(Session* session, const RunOptions& options) {
  UniqueFd program = BAWN_TRY(sys::OpenSibling("bawn-keeper"));
  UniqueFd init = BAWN_TRY(sys::OpenSibling("bawn-init"));
  UniqueFd plan =
      BAWN_TRY(sys::SealedMemfd("bawn-plan", contain::EncodePlan(session->compiled.plan)));
  std::string door =
      "/proc/self/fd/" + std::to_string(session->dir.fd.get()) + "/" + launch::kKeeperSocket;
  Result<> stale = sys::Unlinkat(session->dir.fd.get(), launch::kKeeperSocket);
  (void)stale;  // usually there is none
  UniqueFd listener = BAWN_TRY(sys::ListenPackets(door));
  UniqueFd null = BAWN_TRY(sys::Openat2(AT_FDCWD, "/dev/null", O_RDWR));
  sys::SpawnSpec spec;
  spec.program_fd = program.get();
  spec.argv = {"bawn-keeper", session->dir.id,
               std::to_string(options.keep_for_ms.value_or(launch::kKeepForMsDefault)),
               std::to_string(session->group ? session->group->directories().size() : 0)};
  // The lock goes with the keeper: it is held as long as the sandbox lives (flock(2): one lock per
  // open file description). The witnesses stay with it too, so that later canaries have a target.
  spec.fds = {null.get(),
              null.get(),
              null.get(),
              listener.get(),
              plan.get(),
              init.get(),
              session->dir.lock.get(),
              session->pathname_witness.get(),
              session->abstract_witness.get()};
  if (session->group) {
    for (int fd : session->group->directories()) spec.fds.push_back(fd);
  }
  for (const UniqueFd& slot : session->slots) spec.fds.push_back(slot.get());
  if (session->ids) {
    spec.argv.push_back(std::to_string(session->ids->outer_uid));
    spec.argv.push_back(std::to_string(session->ids->outer_gid));
  }
  spec.new_session = true;
  BAWN_CHECK_OK(sys::Spawn(spec));
  if (session->group) session->group->Release();
  session->dir.lock.Reset();
  session->attached = true;
  session->keeper = BAWN_TRY(launch::ConnectKeeper(session->dir.fd.get()));
  session->opened.meta.state = "live";
  return workspace::WriteMeta(session->dir, session->opened.meta, false);
}

}  // namespace bawn::service
