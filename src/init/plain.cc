#include "init/plain.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "contain/landlock.h"
#include "contain/seccomp.h"
#include "sys/capabilities.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/signals.h"

namespace bawn::init {
namespace {

using wire::LayerFact;
using wire::LayerState;

// An ordinary process without any privilege to lose, and without a way to get one.
Result<LayerFact> CheckPrivileges(const plan::Plan& plan) {
  BAWN_CHECK_OK(sys::CheckIds(plan.uid, plan.gid));
  if (plan.uid == 0) return Fail(ErrorCode::kPermissionDenied, "no payload runs with host id 0");
  sys::CapabilitySets sets = BAWN_TRY(sys::ReadCapabilities());
  if ((sets.effective | sets.permitted | sets.inheritable | sets.ambient) != 0) {
    return Fail(ErrorCode::kPermissionDenied, "this process holds capabilities");
  }
  BAWN_CHECK_OK(sys::SetNoNewPrivileges());
  return LayerFact{"caps", LayerState::kHeld, "read back: CapEff 0, CapPrm 0, NoNewPrivs 1"};
}

// From here on kill(-1) by this process is bounded, which Serve relies on: proven, not assumed. The
// starter has the same user, so only the scope can refuse.
Result<LayerFact> EnterOwnScope(int ruleset) {
  int starter = getppid();
  if (int error = contain::EnterRuleset(ruleset); error != 0) {
    return FailErrno(error, "landlock_restrict_self");
  }
  int answer = sys::Kill(starter, 0);
  if (answer == EPERM) return LayerFact{"scope", LayerState::kHeld, "signal to the starter: EPERM"};
  return Fail(ErrorCode::kUnavailable,
              "a signal to the starter is not refused: " + ErrnoName(answer));
}

// Jobs get a raised score by way of this file (serve.cc). It belongs to root while this process is
// not dumpable; no payload exists yet.
Result<UniqueFd> OpenOomScore() {
  BAWN_CHECK_OK(sys::SetDumpable(true));
  Result<UniqueFd> file = sys::Openat2(AT_FDCWD, "/proc/self/oom_score_adj", O_RDWR);
  BAWN_CHECK_OK(sys::SetDumpable(false));
  return file;
}

// Where a pty is made: /dev/ptmx is a device, or a link into the devpts instance.
std::string PtyPlace() {
  Result<sys::FileStat> ptmx = sys::Fstatat(AT_FDCWD, "/dev/ptmx");
  return ptmx && !ptmx->IsSymlink() ? "/dev" : "/dev/pts";
}

Result<> BuildRestricted(const plan::Plan& plan, Built* built, std::string* stage) {
  *stage = "landlock";
  built->file_ruleset = BAWN_TRY(contain::BuildFileRuleset(plan.landlock, plan.level));
  built->scope_ruleset = BAWN_TRY(contain::BuildScopeRuleset());
  *stage = "seccomp";
  built->filter = BAWN_TRY(contain::SeccompProgram(plan.syscall_profiles, plan.level));
  *stage = "privileges";
  built->layers.push_back(BAWN_TRY(CheckPrivileges(plan)));
  *stage = "scope";
  built->layers.push_back(BAWN_TRY(EnterOwnScope(built->scope_ruleset.get())));
  return {};
}

}  // namespace

Result<Built> BuildPlain(plan::Plan* plan, std::string* stage) {
  *stage = "directory";
  if (chdir("/") < 0) return FailErrno(errno, "chdir(/)");
  *stage = "subreaper";
  BAWN_CHECK_OK(sys::BecomeSubreaper());
  Built built;
  *stage = "oom";
  built.oom_score_adj = BAWN_TRY(OpenOomScore());
  built.devpts = PtyPlace();
  plan->canaries.host_pid = static_cast<uint32_t>(getppid());
  if (plan->level == plan::Level::kRestricted) {
    plan->job_domains = true;  // the only way to reach a job as a whole
    BAWN_CHECK_OK(BuildRestricted(*plan, &built, stage));
    return built;
  }
  *stage = "ids";
  if (plan->level != plan::Level::kNone || geteuid() == 0) {
    return Fail(ErrorCode::kPermissionDenied, "level none is not for host id 0");
  }
  plan->job_domains = false;
  built.layers = {{"files", LayerState::kOff, "level none: every file of the user is open"},
                  {"network", LayerState::kOff, "level none: the host's network is open"},
                  {"processes", LayerState::kOff, "level none: the host's processes are in reach"}};
  return built;
}

}  // namespace bawn::init
