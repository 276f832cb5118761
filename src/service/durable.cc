#include "service/durable.h"

#include <fcntl.h>
#include <time.h>

#include <cerrno>

#include "base/clock.h"
#include "base/json.h"
#include "service/behind.h"
#include "sys/files.h"
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

Result<> Finish(const workspace::SandboxDir& dir, sys::LockKind kind) {
  Result<UniqueFd> lock = sys::Openat2(dir.fd.get(), kPending, O_WRONLY | O_NOFOLLOW);
  if (!lock && lock.error().sys_errno == ENOENT) return {};
  if (!lock) return std::unexpected(lock.error());
  BAWN_CHECK_OK(sys::Flock(lock->get(), kind));
  if (!sys::Fstatat(dir.fd.get(), kPending)) return {};  // it was done while this one waited
  return DoWriteBack(dir);
}

}  // namespace

Result<> StartWriteBack(const workspace::SandboxDir& dir) {
  UniqueFd lock =
      BAWN_TRY(sys::Openat2(dir.fd.get(), kPending, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  // The lock lives with the process that works: who needs the layers waits for it.
  BAWN_CHECK_OK(sys::Flock(lock.get(), sys::LockKind::kExclusive));
  Result<> left = LeaveBehind({dir.fd.get(), lock.get()}, [] {
    workspace::SandboxDir own;
    own.fd.Reset(0);
    return DoWriteBack(own);
  });
  return left ? Result<>() : DoWriteBack(dir);  // later than now is not possible
}

Result<> WaitForWriteBack(const workspace::SandboxDir& dir) {
  return Finish(dir, sys::LockKind::kExclusive);  // it ends itself after kBehindSeconds
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
