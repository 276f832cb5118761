#include "service/durable.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/json.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "workspace/open.h"
#include "workspace/remove.h"
#include "workspace/state.h"

namespace bawn::service {
namespace {

constexpr const char* kPending = workspace::kDurablePending;
constexpr const char* kUnsure = "unsure";  // in meta.json's extra

Result<> DoWriteBack(const workspace::SandboxDir& dir) {
  UniqueFd layer = BAWN_TRY(sys::OpenDir(dir.fd.get(), "layers/0", sys::kUntrusted));
  BAWN_CHECK_OK(sys::Syncfs(layer.get()));
  BAWN_CHECK_OK(workspace::ForgetVolatile(dir));
  Result<> gone = sys::Unlinkat(dir.fd.get(), kPending);
  if (!gone && gone.error().sys_errno != ENOENT) return gone;
  return {};
}

// The process that stays behind: only the sandbox's directory (0) and the lock (1) are open in it.
[[noreturn]] void WriteBack() {
  alarm(kWriteBackSeconds);
  workspace::SandboxDir dir;
  dir.fd.Reset(0);
  _exit(DoWriteBack(dir) ? 0 : 1);
}

Result<> Finish(const workspace::SandboxDir& dir, sys::LockKind kind) {
  Result<UniqueFd> lock = sys::Openat2(dir.fd.get(), kPending, O_WRONLY | O_NOFOLLOW);
  if (!lock && lock.error().sys_errno == ENOENT) return {};
  if (!lock) return std::unexpected(lock.error());
  BAWN_CHECK_OK(sys::Flock(lock->get(), kind));
  if (!sys::Fstatat(dir.fd.get(), kPending)) return {};  // it was done while this one waited
  return DoWriteBack(dir);
}

}  // namespace

namespace {

// The lock lives with the process that works: who needs the layers waits for it.
Result<> LeaveToAnother(const workspace::SandboxDir& dir, const UniqueFd& lock) {
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

}  // namespace

Result<> StartWriteBack(const workspace::SandboxDir& dir) {
  UniqueFd lock =
      BAWN_TRY(sys::Openat2(dir.fd.get(), kPending, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  if (LeaveToAnother(dir, lock)) return {};
  return DoWriteBack(dir);  // later than now is not possible
}

Result<> WaitForWriteBack(const workspace::SandboxDir& dir) {
  return Finish(dir, sys::LockKind::kExclusive);  // it ends itself after kWriteBackSeconds
}

Result<> TakeOverWriteBack(const workspace::SandboxDir& dir) {
  Result<> finished = Finish(dir, sys::LockKind::kExclusiveNonBlocking);
  if (!finished && finished.error().code == ErrorCode::kConflict) return {};  // it is at work
  return finished;
}

Result<> NoteLostWriteBack(const workspace::SandboxDir& dir, workspace::SandboxMeta* meta) {
  timespec boot = {};
  BAWN_ASSERT(clock_gettime(CLOCK_BOOTTIME, &boot) == 0);
  int64_t started_at_ns = RealtimeNs() - (int64_t{boot.tv_sec} * 1'000'000'000 + boot.tv_nsec);
  if (started_at_ns <= meta->opened_at_ns || !workspace::IsVolatile(dir)) return {};
  if (meta->extra.AsObject() == nullptr) meta->extra = JsonObject();
  (*meta->extra.AsObject())[kUnsure] = true;
  return workspace::WriteMeta(dir, *meta, true);
}

std::string LostWriteBack(const workspace::SandboxMeta& meta) {
  if (!meta.extra.GetBool(kUnsure)) return {};
  return "the machine stopped before the changes of " + meta.name +
         " were on disk: files of it may be empty, old or missing; look at the diff";
}

const char* DurableState(const workspace::SandboxDir& dir) {
  return sys::Fstatat(dir.fd.get(), kPending) ? "pending" : "synced";
}

}  // namespace bawn::service
