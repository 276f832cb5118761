#include "init/job.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "contain/canary.h"
#include "contain/landlock.h"
#include "contain/plan_codec.h"
#include "contain/set_id_filter.h"
#include "init/exec.h"
#include "init/wall_switch.h"
#include "sys/capabilities.h"
#include "sys/files.h"
#include "sys/limits.h"
#include "sys/pty.h"
#include "sys/sealed.h"
#include "sys/signals.h"
#include "sys/sockets.h"
#include "wire/control.h"

namespace bawn::init {
namespace {

[[noreturn]] void Fail(int channel, uint32_t job, const std::string& stage, int sys_errno,
                       const std::string& text) {
  wire::FromInit frame = wire::JobFailed{job, stage, static_cast<uint32_t>(sys_errno), text};
  (void)sys::SendPacket(channel, wire::Encode(frame));  // the parent sees the exit either way
  _exit(127);
}

Result<> ApplyLimits(const plan::ProcessLimits& limits) {
  BAWN_CHECK_OK(sys::LowerLimit(sys::Limit::kCore, limits.core_bytes));
  struct Entry {
    sys::Limit limit;
    uint64_t value;
  };
  for (const Entry& entry : {Entry{sys::Limit::kOpenFiles, limits.open_files},
                             Entry{sys::Limit::kProcesses, limits.processes},
                             Entry{sys::Limit::kAddressSpace, limits.address_space_bytes},
                             Entry{sys::Limit::kFileSize, limits.file_bytes}}) {
    if (entry.value != 0) BAWN_CHECK_OK(sys::LowerLimit(entry.limit, entry.value));
  }
  return {};
}

Result<> DupTo(int from, int to) {
  if (dup2(from, to) < 0) return FailErrno(errno, "dup2");
  return {};
}

// Descriptors 0, 1, 2; for a pty, the master to hand out.
Result<UniqueFd> Stdio(const Walls& walls, const plan::JobSpec& spec, const JobStart& start) {
  if (spec.pty != (start.fds.size() == 1)) {
    return bawn::Fail(ErrorCode::kInvalidArgument, "a pty or three streams, not both or neither");
  }
  if (!spec.pty) {
    for (int fd = 0; fd < 3; ++fd) {
      BAWN_CHECK_OK(DupTo(start.fds[static_cast<size_t>(fd) + 1].get(), fd));
    }
    return UniqueFd();
  }
  if (walls.devpts.empty()) {
    return bawn::Fail(ErrorCode::kUnavailable, "no devpts in the view: no terminal can be made");
  }
  sys::Pty pty = BAWN_TRY(sys::OpenPty(walls.devpts, spec.pty_rows, spec.pty_columns));
  BAWN_CHECK_OK(sys::TakeControllingTerminal(pty.slave.get()));
  for (int fd = 0; fd < 3; ++fd) BAWN_CHECK_OK(DupTo(pty.slave.get(), fd));
  return std::move(pty.master);
}

Result<> EnterWalls(const Walls& walls, std::string* stage) {
  if (walls.plan->level == plan::Level::kNone) return {};
  *stage = "landlock";
  int error = IsUp(Wall::kLandlock) ? contain::EnterRuleset(walls.file_ruleset) : 0;
  if (error != 0) return FailErrno(error, "landlock_restrict_self");
  *stage = "seccomp";
  error = IsUp(Wall::kSeccomp) ? contain::LoadSeccomp(walls.filter) : 0;
  if (error == 0 && walls.plan->direct_writes && IsUp(Wall::kSeccomp)) {
    error = contain::LoadSeccomp(contain::SetIdProgram());
  }
  if (error != 0) return FailErrno(error, "seccomp");
  return {};
}

// Everything up to the canaries. `master` is the pty's.
Result<plan::JobSpec> Prepare(const Walls& walls, const JobStart& start, std::string* stage,
                              UniqueFd* master) {
  *stage = "spec";
  std::string bytes = BAWN_TRY(sys::ReadWhole(start.fds[0].get(), wire::kJobSpecBytesMax));
  plan::JobSpec spec = BAWN_TRY(contain::DecodeJobSpec(bytes));
  *stage = "stdio";
  if (setsid() < 0) return FailErrno(errno, "setsid");
  *master = BAWN_TRY(Stdio(walls, spec, start));
  *stage = "limits";
  if (IsUp(Wall::kRlimits)) BAWN_CHECK_OK(ApplyLimits(walls.plan->limits));
  umask(spec.umask);
  *stage = "cwd";
  if (chdir(spec.cwd.c_str()) < 0) return FailErrno(errno, "chdir(" + spec.cwd + ")");
  BAWN_CHECK_OK(EnterWalls(walls, stage));
  return spec;
}

// The job's own two walls, seen from behind them: pid 1 (without a pid namespace: the job's guard)
// has the same user, so only the domain's scope refuses a signal to it.
std::vector<wire::LayerFact> ReadBackWalls(plan::Level level) {
  if (level == plan::Level::kNone) {
    return {{"landlock", wire::LayerState::kOff, "level none"},
            {"seccomp", wire::LayerState::kOff, "level none"}};
  }
  int outside = level == plan::Level::kRestricted ? getppid() : 1;
  bool scoped = kill(outside, 0) < 0 && errno == EPERM;
  bool filtered = sys::SeccompMode() == 2;
  auto state = [](bool held) { return held ? wire::LayerState::kHeld : wire::LayerState::kFailed; };
  return {{"landlock", state(scoped),
           scoped ? "signal to pid 1 or the guard: EPERM" : "it can be signalled"},
          {"seccomp", state(filtered), filtered ? "read back: mode 2" : "no filter"}};
}

}  // namespace

std::string NotHeld(const std::vector<wire::LayerFact>& facts) {
  std::string text;
  for (const wire::LayerFact& fact : facts) {
    if (fact.state == wire::LayerState::kHeld || fact.state == wire::LayerState::kOff) continue;
    text += (text.empty() ? "" : "; ") + fact.name + ": " + fact.verified_by;
  }
  return text;
}

void CloseAllBut(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned next = 0;
  for (int fd : keep) {
    auto kept = static_cast<unsigned>(fd);
    if (kept > next) close_range(next, kept - 1, 0);
    next = kept + 1;
  }
  close_range(next, ~0U, 0);
}

void RunJob(const Walls& walls, JobStart start, UniqueFd channel) {
  if (walls.control >= 0) close(walls.control);
  sys::UnblockAllSignals();
  std::string stage;
  UniqueFd master;
  Result<plan::JobSpec> spec = Prepare(walls, start, &stage, &master);
  if (!spec) Fail(channel.get(), start.job, stage, spec.error().sys_errno, spec.error().message);
  std::vector<wire::LayerFact> canaries = ReadBackWalls(walls.plan->level);
  if (!AnyDown()) {  // where a wall is missing an attempt succeeds, and changes what comes after it
    for (wire::LayerFact& fact : contain::RunCanaries(walls.plan->canaries, walls.plan->level)) {
      canaries.push_back(std::move(fact));
    }
    if (!contain::AllHeld(canaries)) {
      Fail(channel.get(), start.job, "canary", 0, NotHeld(canaries));
    }
  }
  std::vector<int> out;
  if (master.valid()) out.push_back(master.get());
  Result<> said = sys::SendPacket(
      channel.get(), wire::Encode(wire::FromInit(wire::JobStarted{start.job, canaries})), out);
  if (!said) _exit(127);
  for (UniqueFd& fd : start.fds) (void)fd.Release();  // closed by number, with everything else
  (void)master.Release();
  CloseAllBut({0, 1, 2, channel.get()});
  ExecFailure failure = ExecPayload(spec->argv, spec->env);
  Fail(channel.get(), start.job, "exec", failure.sys_errno, failure.text);
}

}  // namespace bawn::init
