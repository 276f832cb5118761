#include "service/collect.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "contain/engines/native.h"
#include "contain/plan_codec.h"
#include "record/receipts.h"
#include "service/durable.h"
#include "service/recover.h"
#include "service/root_mode.h"
#include "service/session.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "workspace/marker.h"

namespace bawn::service {
namespace {

// $1: the workspace; $2: the base commit, or empty. The tip comes first (--topo-order). What git is
// here, and what its config says, is the payload's to choose: it can only lie to itself.
constexpr char kScript[] = R"(
PATH=/usr/local/bin:/usr/bin:/bin
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_NO_REPLACE_OBJECTS=1 GIT_OPTIONAL_LOCKS=0
export PATH GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_NO_REPLACE_OBJECTS GIT_OPTIONAL_LOCKS
inside() { git -c 'safe.directory=*' -C "$work" "$@"; }
work=$1 base=$2
exec 2>/dev/null
inside rev-parse -q --verify HEAD >/dev/null || { inside rev-parse --git-dir >/dev/null; exit; }
{ inside rev-list --objects --topo-order --no-object-names HEAD ${base:+--not "$base"} ||
  echo incomplete; } | inside cat-file --batch --buffer
)";

// Does this objects/ directory hold any object of its own? A commit leaves one there.
Result<bool> HoldsObjects(int sandbox_fd, const std::string& path) {
  Result<UniqueFd> dir = sys::OpenDir(sandbox_fd, path, sys::kUntrusted);
  if (!dir && (dir.error().sys_errno == ENOENT || dir.error().sys_errno == ENOTDIR)) return false;
  if (!dir) return true;  // it can be asked inside
  Result<std::vector<sys::DirEntry>> entries = sys::ListDir(dir->get());
  if (!entries) return true;
  return std::ranges::any_of(*entries, [&](const sys::DirEntry& entry) {
    if (entry.name == "info") return false;
    if (entry.name != "pack") return true;
    Result<UniqueFd> pack = sys::OpenDir(dir->get(), "pack", sys::kUntrusted);
    Result<std::vector<sys::DirEntry>> packs =
        pack ? sys::ListDir(pack->get()) : Result<std::vector<sys::DirEntry>>();
    return !packs || !packs->empty();
  });
}

Result<bool> MayHoldCommits(const workspace::StateDir& state, const workspace::SandboxMeta& meta) {
  if (meta.git_dir.empty()) return false;
  workspace::SandboxDir dir = BAWN_TRY(workspace::OpenSandboxDir(state, meta.id, false));
  for (const char* objects : {"layers/0/upper/.git/objects", "git/upper/objects"}) {
    if (BAWN_TRY(HoldsObjects(dir.fd.get(), objects))) return true;
  }
  return false;
}

RunOptions JobOf(const workspace::SandboxMeta& meta) {
  RunOptions options;
  options.argv = {"/bin/sh", "-c", kScript, "bawn", meta.workspace_path, meta.base_commit};
  options.in_sandbox = meta.id;
  options.quiet = options.no_log = true;
  options.tty = false;
  return options;
}

Result<launch::JobReport> Execute(Session* session, int out_fd) {
  contain::NativeEngine engine(BAWN_TRY(sys::OpenSibling("bawn-init")));
  launch::JobRun run;
  run.engine = &engine;
  run.provision.plan =
      BAWN_TRY(sys::SealedMemfd("bawn-plan", contain::EncodePlan(session->compiled.plan)));
  run.provision.ids = session->ids;
  run.provision.fds = std::move(session->slots);
  run.provision.sandbox_id = session->dir.id;
  run.provision.group = std::move(session->group);
  session->group.reset();
  run.job_spec =
      BAWN_TRY(sys::SealedMemfd("bawn-job", contain::EncodeJobSpec(session->compiled.job)));
  run.io.out = out_fd;
  run.limits.time_ms = kCollectMs;
  run.limits.out_bytes_max = kCollectBytesMax;
  return launch::RunOneShot(std::move(run));
}

// Every job leaves one. It is there before the job starts, for a Bawn that is killed meanwhile.
Result<> Record(const Session& session, const launch::JobReport& report) {
  plan::Receipt receipt = MakeReceipt(session, report);
  receipt.workspace.durable = "pending";  // as in Finish: the layers were mounted again
  receipt.unmeasured.emplace_back("workspace.added", "the job lists the commits made inside");
  return record::WriteReceipt(session.dir.fd.get(), receipt, false);
}

Result<launch::JobReport> RunRecorded(Session* session, int out_fd) {
  BAWN_CHECK_OK(MakeJobDir(session));
  launch::JobReport before;
  before.started_at_ns = before.ended_at_ns = RealtimeNs();
  before.outcome.kind = plan::OutcomeKind::kInterrupted;
  before.outcome.hint = "bawn ended before the job did; pid 1 ended the sandbox with it";
  BAWN_CHECK_OK(Record(*session, before));
  Result<launch::JobReport> report = Execute(session, out_fd);
  if (report) {
    BAWN_CHECK_OK(Record(*session, *report));
    return report;
  }
  before.outcome = {};
  before.outcome.kind = plan::OutcomeKind::kSetupFailed;
  before.failure = report.error().message;
  before.ended_at_ns = RealtimeNs();
  BAWN_CHECK_OK(Record(*session, before));
  return report;
}

std::unexpected<Error> Failed(std::string why) {
  return Fail(ErrorCode::kFailedPrecondition,
              "the commits made inside could not be listed: " + std::move(why),
              "--squash publishes what the tree holds now, as one commit, without them",
              "publish.inside_job");
}

Result<> CheckEnd(const launch::JobReport& report) {
  if (!report.remaining.empty()) return Failed("something of the sandbox remained");
  const plan::Outcome& outcome = report.outcome;
  if (outcome.kind == plan::OutcomeKind::kKilled) {
    return Failed("the job was ended by its limit: " +
                  std::string(plan::KilledByName(outcome.killed_by)));
  }
  if (!report.failure.empty()) return Failed(report.failure);
  if (outcome.kind == plan::OutcomeKind::kExited && outcome.exit_code == 0) return {};
  return Failed("git inside failed, or there is none");
}

// As after a run: what only a running sandbox needs goes, the changes stay.
Result<> End(const Session& session) {
  BAWN_CHECK_OK(RemoveRuntimeParts(session.dir, true));
  BAWN_CHECK_OK(StartWriteBack(session.dir));
  return workspace::Unmark(session.state, session.dir.id);
}

}  // namespace

bool IsCollectJob(const Json& receipt) {
  const Json* command = receipt.Get("command");
  const JsonArray* words = command == nullptr ? nullptr : command->AsArray();
  return words != nullptr && words->size() > 2 && (*words)[2].AsString() != nullptr &&
         *(*words)[2].AsString() == EscapeName(kScript);
}

Result<UniqueFd> CollectCommits(const Caller& caller, const workspace::StateDir& state,
                                const workspace::SandboxMeta& meta) {
  if (!BAWN_TRY(MayHoldCommits(state, meta))) return UniqueFd();
  RunOptions options = JobOf(meta);
  Result<Session> session = ContinueSession(caller, options, false);
  if (!session) {
    (void)RecoverInterrupted(state);  // takes the marker away again; else the next command does
    return Failed(session.error().message);
  }
  UniqueFd out = BAWN_TRY(sys::Openat2(session->dir.fd.get(), ".", O_RDWR | O_TMPFILE, 0600));
  Result<launch::JobReport> report = RunRecorded(&*session, out.get());
  bool gone = !report || report->remaining.empty();
  if (gone)
    BAWN_CHECK_OK(End(*session));  // else the marker stays, and the next command tries again
  if (!report) return Failed(report.error().message);
  BAWN_CHECK_OK(CheckEnd(*report));
  if (BAWN_TRY(sys::Fstat(out.get())).size == 0) return UniqueFd();
  return out;
}

}  // namespace bawn::service
