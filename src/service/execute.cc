#include <memory>
#include <utility>

#include "base/ids.h"
#include "contain/engines/native.h"
#include "contain/plan_codec.h"
#include "launch/kept.h"
#include "service/session.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::service {
namespace {

// The caller's three streams as the keeper sees them; a closed one is "none".
launch::CallerIo FindCallerIo(bool pty) {
  launch::CallerIo io;
  io.pty = pty;
  Result<sys::FileStat> in = sys::Fstat(0);
  Result<sys::FileStat> out = sys::Fstat(1);
  Result<sys::FileStat> err = sys::Fstat(2);
  // The null device stays the null device inside; Numbers 1:3, null(4).
  constexpr uint64_t kNullDevice = 0x103;
  io.in = in && !((in->mode & S_IFMT) == S_IFCHR && in->rdev == kNullDevice) ? 0 : -1;
  io.out = out ? 1 : -1;
  io.err = err ? 2 : -1;
  io.one_output = out && err && out->dev == err->dev && out->ino == err->ino;
  return io;
}

void Announce(const Session& session, const std::string& event, int status_fd) {
  JsonObject line;
  line["event"] = event;
  line["sandbox_id"] = session.dir.id;
  line["job_id"] = session.job_id;
  // A reader that went away must not end the run: the receipt has it all.
  (void)sys::WriteAll(status_fd, ToJsonText(Json(std::move(line))) + "\n");
}

}  // namespace

Result<> MakeJobDir(Session* session) {
  session->job_id = NewId("job_");
  int dir = session->dir.fd.get();
  Result<> made = sys::Mkdirat(dir, "jobs", 0700);
  if (!made && made.error().sys_errno != EEXIST) return made;
  std::string place = "jobs/" + session->job_id;
  BAWN_CHECK_OK(sys::Mkdirat(dir, place, 0700));
  session->job_dir = BAWN_TRY(sys::OpenDir(dir, place, sys::kUntrusted));
  return {};
}

namespace {

// What the record says of a job before it runs. In a one-shot run pid 1 builds meanwhile.
Result<> PrepareJob(Session* session, const RunOptions& options, launch::JobRun* run) {
  BAWN_CHECK_OK(MakeJobDir(session));
  if (!session->attached) {
    BAWN_CHECK_OK(workspace::WriteMeta(session->dir, session->opened.meta, false));
  }
  bool fresh = options.in_sandbox.empty();
  if (fresh && session->repository && !options.ephemeral &&
      !session->opened.meta.base_commit.empty()) {
    BAWN_CHECK_OK(workspace::PinBase(*session->repository, session->dir.id,
                                     session->opened.meta.base_commit));
  }
  if (!session->attached && !session->pathname_witness.valid()) {
    BAWN_CHECK_OK(PlaceWitnesses(session));
  }
  BAWN_CHECK_OK(WriteDecisions(*session));
  run->job_spec =
      BAWN_TRY(sys::SealedMemfd("bawn-job", contain::EncodeJobSpec(session->compiled.job)));
  if (!options.no_log) run->log_dir = session->job_dir.get();
  return {};
}

}  // namespace

Result<launch::JobReport> ExecuteSession(Session* session, const RunOptions& options) {
  launch::JobRun run;
  bool one_shot = !options.keep && !session->attached;
  if (!one_shot) BAWN_CHECK_OK(PrepareJob(session, options, &run));
  std::unique_ptr<contain::Engine> engine;
  if (options.keep && !session->attached) BAWN_CHECK_OK(StartKeeper(session, options));
  if (session->attached) {
    engine = std::make_unique<launch::AttachedEngine>(std::move(session->keeper));
  } else {
    std::string plan = contain::EncodePlan(session->compiled.plan);
    if (session->engine) {
      engine = std::move(session->engine);
      BAWN_CHECK_OK(sys::FillAndSeal(session->plan_file.get(), plan));
      run.provision.plan = std::move(session->plan_file);
    } else {
      engine = std::make_unique<contain::NativeEngine>(BAWN_TRY(sys::OpenSibling("bawn-init")));
      run.provision.plan = BAWN_TRY(sys::SealedMemfd("bawn-plan", plan));
    }
  }
  run.engine = engine.get();
  run.provision.ids = session->ids;
  run.provision.group = std::move(session->group);
  session->group.reset();
  run.provision.fds = std::move(session->slots);
  run.provision.sandbox_id = session->dir.id;
  if (one_shot) {
    run.while_building = [session, &options](launch::JobRun* job) {
      return PrepareJob(session, options, job);
    };
  }
  run.io = FindCallerIo(session->pty);
  run.limits.time_ms = session->compiled.limits.time_ms;
  run.limits.idle_ms = session->compiled.limits.idle_ms;
  run.limits.kept_bytes_max =
      session->compiled.limits.output_bytes.value_or(run.limits.kept_bytes_max);
  run.limits.changes = {session->compiled.limits.disk_bytes, session->compiled.limits.inodes};
  UniqueFd upper;
  if (run.limits.changes.any()) {
    upper = BAWN_TRY(sys::OpenDir(session->dir.fd.get(), "layers/0/upper", sys::kUntrusted));
    run.upper = upper.get();
  }
  if (options.status_fd) {
    run.on_event = [session, fd = *options.status_fd](const std::string& event) {
      Announce(*session, event, fd);
    };
  }
  Result<launch::JobReport> report = launch::RunOneShot(std::move(run));
  bool refused = !report && report.error().message.starts_with("clone3");
  if (refused) {  // no pid 1, so nothing ran
    report.error().message =
        "this machine refuses a new namespace (" + report.error().message + "); nothing ran";
    report.error().hint = "bawn doctor names what is missing and the remedy";
  }
  return report;
}

void AnnounceEnd(const Session& session, const RunResult& result, int status_fd) {
  JsonObject line;
  line["event"] = "ended";
  line["sandbox_id"] = session.dir.id;
  line["job_id"] = session.job_id;
  line["outcome"] = plan::OutcomeKindName(result.receipt.outcome.kind);
  line["exit_code"] = result.exit_code;
  (void)sys::WriteAll(status_fd, ToJsonText(Json(std::move(line))) + "\n");  // as in Announce
}

}  // namespace bawn::service
