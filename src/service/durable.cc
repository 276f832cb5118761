#include "service/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/files.h"
#include "sys/processes.h"
#include "workspace/open.h"
#include "workspace/state.h"

namespace bawn::service {
namespace {

constexpr const char* kPending = "durable.pending";

// The process that stays behind: only the sandbox's directory (0) and the lock (1) are open in it.
[[noreturn]] void WriteBack() {
  alarm(kWriteBackSeconds);
  workspace::SandboxDir dir;
  dir.fd.Reset(0);
  Result<UniqueFd> layer = sys::OpenDir(0, "layers/0", sys::kUntrusted);
  if (!layer || !sys::Syncfs(layer->get())) _exit(1);
  if (!workspace::ForgetVolatile(dir)) _exit(1);
  _exit(sys::Unlinkat(0, kPending) ? 0 : 1);
}

}  // namespace

Result<> StartWriteBack(const workspace::SandboxDir& dir) {
  // The lock lives with the process that works: who needs the layers waits for it.
  UniqueFd lock =
      BAWN_TRY(sys::Openat2(dir.fd.get(), kPending, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  BAWN_CHECK_OK(sys::Flock(lock.get(), sys::LockKind::kExclusive));
  // Twice, so that the one who works is nobody's child: `bawn` does not wait for it.
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) {
    Result<sys::Child> worker = sys::Clone3(0);
    if (!worker || worker->pid != 0) _exit(worker ? 0 : 1);
    setsid();
    if (dup2(dir.fd.get(), 0) < 0 || dup2(lock.get(), 1) < 0 || !sys::CloseFrom(2)) _exit(1);
    WriteBack();
  }
  bool ended = false;
  sys::Exit exit = BAWN_TRY(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  if (exit.status != 0) return Fail(ErrorCode::kInternal, "the write-back process did not start");
  return {};
}

Result<> WaitForWriteBack(const workspace::SandboxDir& dir) {
  Result<UniqueFd> lock = sys::Openat2(dir.fd.get(), kPending, O_WRONLY | O_NOFOLLOW);
  if (!lock && lock.error().sys_errno == ENOENT) return {};
  if (!lock) return std::unexpected(lock.error());
  // It ends itself after kWriteBackSeconds; then the lock is free and this command takes over.
  BAWN_CHECK_OK(sys::Flock(lock->get(), sys::LockKind::kExclusive));
  Result<> gone = sys::Unlinkat(dir.fd.get(), kPending);
  if (!gone && gone.error().sys_errno != ENOENT) return gone;
  return {};
}

const char* DurableState(const workspace::SandboxDir& dir) {
  return sys::Fstatat(dir.fd.get(), kPending) ? "pending" : "synced";
}

}  // namespace bawn::service
