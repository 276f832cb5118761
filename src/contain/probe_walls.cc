// Decided in: nowhere; a probe only tries. Enforced by: the kernel, in the probe's own child.
// Recorded as: a fact of `bawn doctor`.
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "contain/landlock.h"
#include "contain/probes.h"
#include "contain/seccomp.h"
#include "sys/attempts.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "sys/raw.h"
#include "sys/syscall_numbers.h"

namespace bawn::contain {
namespace {

std::unexpected<Error> Wrong(std::string what) {
  return Fail(ErrorCode::kUnavailable, std::move(what));
}

}  // namespace

Result<std::string> ProbeLandlock() {
  std::string abi = "ABI " + std::to_string(LandlockAbi());
  UniqueFd ruleset = BAWN_TRY(BuildFileRuleset({{"/", plan::PathRights::kReadExecute}}));
  int parent = getppid();
  if (sys::TryOpenForWrite("/dev/null").error != 0) return Wrong("/dev/null is not writable");
  if (int error = sys::raw::SetNoNewPrivs(); error != 0) return FailErrno(error, "prctl");
  if (int error = EnterRuleset(ruleset.get()); error != 0) {
    return FailErrno(error, "landlock_restrict_self");
  }
  int write = sys::TryOpenForWrite("/dev/null").error, signal = sys::TrySignalZero(parent).error;
  std::string seen = abi + ": write " + ErrnoName(write) + ", signal out " + ErrnoName(signal);
  if (write != EACCES || signal != EPERM) return Wrong(seen);
  return seen;
}

Result<std::string> ProbeSeccomp() {
  auto program = BAWN_TRY(SeccompProgram({}));
  if (int error = sys::raw::SetNoNewPrivs(); error != 0) return FailErrno(error, "prctl");
  if (int error = LoadSeccomp(program); error != 0) return FailErrno(error, "seccomp");
  long clone3 = sys::raw::Call(sys::kNrClone3, 0, 0);
  sys::Attempt vsock = sys::TrySocketVsock();
  if (clone3 != -ENOSYS || vsock.error != EAFNOSUPPORT) return Wrong("the filter does not answer");
  return "filter of " + std::to_string(program.size()) + " instructions answers";
}

Result<std::string> ProbePidfd() {
  pid_t own = getpid();
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) sys::WaitToBeKilled(own);
  BAWN_CHECK_OK(sys::PidfdOpen(child.pid));
  BAWN_CHECK_OK(sys::PidfdSendSignal(child.pidfd.get(), SIGKILL));
  bool ended = false;
  sys::Exit exit = BAWN_TRY(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  if (!ended || !WIFSIGNALED(exit.status)) return Wrong("the child did not end by the signal");
  return "clone3, pidfd_open, pidfd_send_signal, waitid";
}

Result<std::string> ProbeSealedMemfd() {
  UniqueFd file = BAWN_TRY(sys::SealedMemfd("bawn-probe", "sealed"));
  Result<> written = sys::Pwrite(file.get(), "x", 0);
  if (written) return Wrong("a sealed memfd can be written");
  if (written.error().sys_errno != EPERM) return std::unexpected(written.error());
  return "written after sealing: EPERM";
}

}  // namespace bawn::contain
