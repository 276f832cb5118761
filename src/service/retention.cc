#include "service/retention.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "record/receipts.h"
#include "sys/files.h"
#include "workspace/remove.h"

namespace bawn::service {
namespace {

constexpr const char* kStamp = "next-sweep";
constexpr int64_t kInUseNs = int64_t{3600} * 1'000'000'000;  // then it is looked at again

// When the oldest job of the sandbox, or what an apply replaced, will be due; `now_ns` + the
// retention where there is neither.
Result<int64_t> NextDue(const workspace::SandboxDir& dir, int64_t now_ns) {
  int64_t oldest = now_ns;
  for (const char* part : {"jobs", "journal"}) {
    Result<UniqueFd> all = sys::OpenDir(dir.fd.get(), part, sys::kUntrusted);
    if (!all && all.error().sys_errno == ENOENT) continue;
    if (!all) return std::unexpected(std::move(all).error());
    for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(all->get()))) {
      Result<sys::FileStat> st = sys::Fstatat(all->get(), entry.name);
      if (st) oldest = std::min(oldest, st->mtime_ns);
    }
  }
  return oldest + record::kRetentionNs;
}

// Nothing to review, no job on record, nothing to undo.
Result<bool> IsEmpty(const workspace::SandboxDir& dir, int64_t now_ns) {
  Result<workspace::SandboxMeta> meta = workspace::ReadMeta(dir);
  if (!meta) return false;  // listed as damaged: somebody should look at it
  if (meta->kept || meta->state == "running" || meta->state == "live") return false;
  if (sys::Fstatat(dir.fd.get(), "layers")) return false;
  Result<UniqueFd> jobs = sys::OpenDir(dir.fd.get(), "jobs", sys::kUntrusted);
  if (jobs && !BAWN_TRY(sys::ListDir(jobs->get())).empty()) return false;
  if (!jobs && jobs.error().sys_errno != ENOENT) return std::unexpected(std::move(jobs).error());
  Result<sys::FileStat> journal = sys::Fstatat(dir.fd.get(), "journal");
  return !journal || journal->mtime_ns < now_ns - record::kRetentionNs;
}

// One sandbox, under its lock; says when it has to be looked at again.
Result<int64_t> SweepOne(const workspace::StateDir& state, const std::string& id, int64_t now_ns) {
  int64_t later = now_ns + record::kRetentionNs;
  Result<workspace::SandboxDir> dir = workspace::OpenSandboxDir(state, id, true);
  if (!dir && dir.error().code == ErrorCode::kConflict) return now_ns + kInUseNs;
  if (!dir && dir.error().code == ErrorCode::kNotFound) return later;
  if (!dir) return std::unexpected(std::move(dir).error());
  (void)BAWN_TRY(record::RemoveOldReceipts(dir->fd.get(), now_ns));
  if (!BAWN_TRY(IsEmpty(*dir, now_ns))) return NextDue(*dir, now_ns);
  BAWN_CHECK_OK(workspace::RemoveSandboxDir(state, std::move(*dir)));
  return later;
}

}  // namespace

Result<> RemoveExpired(const workspace::StateDir& state, int64_t now_ns) {
  Result<sys::FileStat> stamp = sys::Fstatat(state.fd.get(), kStamp);
  if (stamp && stamp->mtime_ns > now_ns) return {};
  int64_t next = now_ns + record::kRetentionNs;
  BAWN_CHECK_OK(workspace::SweepRemoved(state));
  BAWN_CHECK_OK(workspace::SweepUnfinished(state));
  for (const workspace::ListedSandbox& one : BAWN_TRY(workspace::ListSandboxes(state))) {
    next = std::min(next, BAWN_TRY(SweepOne(state, one.meta.id, now_ns)));
  }
  (void)BAWN_TRY(sys::Openat2(state.fd.get(), kStamp, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  return sys::Utimensat(state.fd.get(), kStamp, next, AT_SYMLINK_NOFOLLOW);
}

}  // namespace bawn::service
