// service/session.h
// One run from its options to its receipt, step by step (ARCHITECTURE.md, "Life of one run"):
// Prepare decides (policy, workspace, Plan), Execute hands the Plan to the keeper, Finish records
// and leaves only changes, receipt and kept output. `bawn plan` stops after Prepare.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "contain/cgroup.h"
#include "contain/engine.h"
#include "launch/keeper.h"
#include "policy/compile.h"
#include "service/bawn.h"
#include "service/context.h"
#include "workspace/open.h"
#include "workspace/state.h"

namespace bawn::service {

struct Session {
  Caller caller;
  workspace::StateDir state;
  UniqueFd marker;  // this run is at work on `dir`
  workspace::SandboxDir dir;
  std::optional<workspace::Repository> repository;
  workspace::Opened opened;
  policy::Policy policy;
  policy::Compiled compiled;
  plan::Level level = plan::Level::kIsolated;
  std::string job_id;
  UniqueFd job_dir;                                       // jobs/<job_id>
  UniqueFd pathname_witness, abstract_witness;            // canaries must not reach these
  std::optional<contain::ProvisionRequest::IdRange> ids;  // root mode: the leased range
  std::unique_ptr<contain::Engine> engine;                // pid 1 was started ahead: it waits for…
  UniqueFd plan_file;                                     // … this
  std::optional<contain::Cgroup> group;                   // level bounded: ours until pid 1 starts
  std::string downgrade_reason;                           // the default is lower than it could be
  std::vector<UniqueFd> slots;                            // root mode: Source::fd_slot
  bool pty = false;
  UniqueFd keeper;        // --keep, --in a live one: the connection to its bawn-keeper
  bool attached = false;  // the sandbox stays when this run's job has ended
};

// Leaves nothing behind when it fails.
// `to_run`: its pid 1 may be started ahead.
Result<Session> PrepareSession(Caller caller, const RunOptions& options, bool pty, bool to_run);
// A sandbox in which nothing ran, without a trace: its pin, its directory, its marker. What fails
// here stays marked, for the next command.
Result<> DropSandbox(Session* session, const std::string& id);
// `--in`: a live sandbox is joined through its keeper, one that is not is mounted again.
Result<Session> ContinueSession(Caller caller, const RunOptions& options, bool pty);
// `--keep`: starts bawn-keeper with this session's Plan and lock, and connects to it.
Result<> StartKeeper(Session* session, const RunOptions& options);
// Every decision of the run beside its receipt, for `bawn why`.
Result<> WriteDecisions(const Session& session);
// Ends a live sandbox and waits for its keeper. False: it has none.
Result<bool> EndLive(const workspace::StateDir& state, const std::string& id);
// Until a keeper that is ending has let go of the sandbox's lock; at most two seconds.
void WaitForKeeper(const workspace::StateDir& state, const std::string& id);
Result<launch::JobReport> ExecuteSession(Session* session, const RunOptions& options);
void AnnounceEnd(const Session& session, const RunResult& result, int status_fd);
Result<RunResult> FinishSession(Session* session, const RunOptions& options,
                                const launch::JobReport& report);

// The parts of Execute and Finish that a job of Bawn's own shares (collect.h).
Result<> MakeJobDir(Session* session);
plan::Receipt MakeReceipt(const Session& session, const launch::JobReport& report);

// The parts of Prepare that `--in` shares.
Result<policy::JobRequest> MakeJobRequest(const Caller& caller, const RunOptions& options,
                                          bool pty);
workspace::OpenRequest MakeOpenRequest(const Session& session, const RunOptions& options,
                                       const std::string& root);
Result<> CompileSession(const RunOptions& options, bool pty, Session* session);
// What the canaries try to reach: live things outside that the caller itself could reach. Named in
// the Plan, and there before the first job.
void NameWitnesses(Session* session);
Result<> PlaceWitnesses(Session* session);

// The level of this run: `--level` exactly, else the highest that can be proven, never below the
// floor of profile or BAWN_LEVEL. At `bounded` the control group exists from here on.
Result<> ChooseLevel(const RunOptions& options, Session* session);
// In a sandbox's directory: where its control groups are, written before they are made.
inline constexpr char kCgroupRecord[] = "cgroup";

// Exit code and message of `run` (DESIGN 8): the job's own, or Bawn's with one line that says why.
void SetExit(const launch::JobReport& report, const std::vector<std::string>& command,
             RunResult* result);

}  // namespace bawn::service
