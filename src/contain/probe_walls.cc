#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "contain/landlock.h"
#include "contain/probes.h"
#include "contain/seccomp.h"
#include "sys/attempts.h"
#include "sys/processes.h"
#include "sys/raw.h"
#include "sys/syscall_numbers.h"

namespace bawn::contain {
namespace {

std::unexpected<Error> Wrong(std::string what) {
  return Fail(ErrorCode::kUnavailable, std::move(what));
}

// The smallest x86-64 program: one segment that calls exit(0). ELF header, program header, code.
constexpr char kExitZero[] =
    "\x7f\x45\x4c\x46\x02\x01\x01\0\0\0\0\0\0\0\0\0"  // ELF64, little-endian
    "\x02\0\x3e\0\x01\0\0\0\x78\0\x40\0\0\0\0\0"      // EXEC, x86-64, entry
    "\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"              // program header at 64
    "\0\0\0\0\x40\0\x38\0\x01\0\0\0\0\0\0\0"          // one of them
    "\x01\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0"            // LOAD, read and execute
    "\0\0\x40\0\0\0\0\0\0\0\x40\0\0\0\0\0"            // at 0x400000
    "\x81\0\0\0\0\0\0\0\x81\0\0\0\0\0\0\0"            // 129 bytes
    "\0\x10\0\0\0\0\0\0"                              // page alignment
    "\xb8\x3c\0\0\0\x31\xff\x0f\x05";                 // exit(0)
static_assert(sizeof kExitZero == 129 + 1);

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
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) {
    for (;;) pause();
  }
  BAWN_CHECK_OK(sys::PidfdOpen(child.pid));
  BAWN_CHECK_OK(sys::PidfdSendSignal(child.pidfd.get(), SIGKILL));
  bool ended = false;
  sys::Exit exit = BAWN_TRY(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  if (!ended || !WIFSIGNALED(exit.status)) return Wrong("the child did not end by the signal");
  return "clone3, pidfd_open, pidfd_send_signal, waitid";
}

Result<std::string> ProbeSealedExec() {
  std::string_view program(kExitZero, sizeof kExitZero - 1);
  UniqueFd file = BAWN_TRY(sys::SealedMemfd("bawn-probe", program));
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) {
    Error error = sys::ExecFd(file.get(), {"bawn-probe"}, {});
    _exit(error.sys_errno);
  }
  bool ended = false;
  sys::Exit exit = BAWN_TRY(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  if (WIFEXITED(exit.status) && WEXITSTATUS(exit.status) != 0) {
    return FailErrno(WEXITSTATUS(exit.status), "execveat(sealed memfd)");
  }
  if (!WIFEXITED(exit.status)) return Wrong("a program in a sealed memfd died");
  return "a program runs from a sealed memfd";
}

}  // namespace bawn::contain
