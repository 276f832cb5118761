#include "service/retention.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "record/receipts.h"
#include "sys/files.h"
#include "workspace/journals.h"
#include "workspace/remove.h"

namespace bawn::service {
namespace {

constexpr const char* kStamp = "next-sweep";
constexpr int64_t kInUseNs = int64_t{3600} * 1'000'000'000;  // then it is looked at again

// When the oldest job of the sandbox, or what an apply replaced at `applied_ns`, will be due.
Result<int64_t> NextDue(const workspace::SandboxDir& dir, int64_t now_ns,
                        std::optional<int64_t> applied_ns) {
  int64_t oldest = std::min(now_ns, applied_ns.value_or(now_ns));
  Result<UniqueFd> jobs = sys::OpenDir(dir.fd.get(), "jobs", sys::kUntrusted);
  if (!jobs && jobs.error().sys_errno != ENOENT) return std::unexpected(std::move(jobs).error());
  if (jobs) {
    for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(jobs->get()))) {
      Result<sys::FileStat> st = sys::Fstatat(jobs->get(), entry.name);
      if (st) oldest = std::min(oldest, st->mtime_ns);
    }
  }
  return oldest + record::kRetentionNs;
}

// Nothing to review, no job on record, nothing to undo.
Result<bool> IsEmpty(const workspace::SandboxDir& dir, const workspace::SandboxMeta& meta) {
  if (meta.kept || meta.state == "running" || meta.state == "live") return false;
  if (sys::Fstatat(dir.fd.get(), "layers")) return false;
  for (const char* part : {"jobs", "journal"}) {
    Result<UniqueFd> all = sys::OpenDir(dir.fd.get(), part, sys::kUntrusted);
    if (all && !BAWN_TRY(sys::ListDir(all->get())).empty()) return false;
    if (!all && all.error().sys_errno != ENOENT) return std::unexpected(std::move(all).error());
  }
  return true;
}

// One sandbox, under its lock; says when it has to be looked at again.
Result<int64_t> SweepOne(const workspace::StateDir& state, const std::string& id, int64_t now_ns) {
  int64_t later = now_ns + record::kRetentionNs;
  Result<workspace::SandboxDir> dir = workspace::OpenSandboxDir(state, id, true);
  if (!dir && dir.error().code == ErrorCode::kConflict) return now_ns + kInUseNs;
  if (!dir && dir.error().code == ErrorCode::kNotFound) return later;
  if (!dir) return std::unexpected(std::move(dir).error());
  (void)BAWN_TRY(record::RemoveOldReceipts(dir->fd.get(), now_ns));
  Result<workspace::SandboxMeta> meta = workspace::ReadMeta(*dir);
  bool ended = meta && workspace::IsEnded(meta->state);
  std::optional<int64_t> applied =
      BAWN_TRY(workspace::RemoveOldJournals(*dir, ended, now_ns - record::kRetentionNs));
  // One that is listed as damaged stays: somebody should look at it.
  if (!meta || !BAWN_TRY(IsEmpty(*dir, *meta))) return NextDue(*dir, now_ns, applied);
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
