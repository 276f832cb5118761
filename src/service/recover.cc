#include "service/recover.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/ids.h"
#include "contain/cgroup.h"
#include "launch/keeper.h"
#include "launch/kept.h"
#include "plan/receipt.h"
#include "record/receipts.h"
#include "service/durable.h"
#include "service/session.h"
#include "sys/files.h"
#include "workspace/open.h"

namespace bawn::service {
namespace {

Result<UniqueFd> RunningDir(const workspace::StateDir& state) {
  Result<> made = sys::Mkdirat(state.fd.get(), "running", 0700);
  if (!made && made.error().sys_errno != EEXIST) return std::unexpected(made.error());
  return sys::OpenDir(state.fd.get(), "running", sys::kUntrusted);
}

bool Missing(const Result<>& result) { return !result && result.error().sys_errno == ENOENT; }

Result<> WriteInterrupted(const workspace::SandboxDir& dir, const workspace::SandboxMeta& meta) {
  std::vector<record::StoredReceipt> receipts = BAWN_TRY(record::ReadReceipts(dir.fd.get()));
  if (!receipts.empty()) return {};  // the job's receipt was written; only the clean-up was missing
  plan::Receipt receipt;
  receipt.sandbox_id = meta.id;
  receipt.sandbox_name = meta.name;
  receipt.job_id = NewId("job_");
  receipt.command = meta.command;
  receipt.started_at_ns = meta.created_at_ns;
  receipt.ended_at_ns = RealtimeNs();
  receipt.outcome.kind = plan::OutcomeKind::kInterrupted;
  receipt.outcome.hint = "bawn ended before the job did; pid 1 ended the sandbox with it";
  receipt.workspace.mode = meta.mode;
  receipt.workspace.rung = meta.rung;
  receipt.workspace.path = meta.workspace_path;
  receipt.workspace.base_commit = meta.base_commit;
  receipt.unmeasured = {{"usage", "the keeper was killed"}};
  return record::WriteReceipt(dir.fd.get(), receipt, false);
}

// Ends one interrupted sandbox. Its processes are gone already: pid 1 ends with its control socket.
Result<std::string> RecoverOne(const workspace::StateDir& state, const std::string& id) {
  Result<workspace::SandboxDir> dir = workspace::OpenSandboxDir(state, id, true);
  if (!dir && dir.error().code == ErrorCode::kConflict) return std::string();  // it lives
  if (!dir && dir.error().code == ErrorCode::kNotFound) {
    BAWN_CHECK_OK(MarkEnded(state, id));
    return std::string();
  }
  if (!dir) return std::unexpected(dir.error());
  Result<workspace::SandboxMeta> meta = workspace::ReadMeta(*dir);
  if (!meta) {  // killed before the workspace was opened: nothing of value exists yet
    BAWN_CHECK_OK(workspace::RemoveSandboxDir(state, std::move(*dir)));
    BAWN_CHECK_OK(MarkEnded(state, id));
    return std::string();
  }
  if (meta->state == "live") {  // its keeper ended it; nothing was interrupted
    meta->state = "ended";
    if (!meta->kept && !meta->common_dir.empty()) {
      BAWN_CHECK_OK(workspace::UnpinBase(meta->common_dir, id));
    }
    BAWN_CHECK_OK(workspace::WriteMeta(*dir, *meta, false));
    BAWN_CHECK_OK(RemoveRuntimeParts(*dir, meta->kept));
    if (meta->kept) BAWN_CHECK_OK(StartWriteBack(*dir));
    BAWN_CHECK_OK(MarkEnded(state, id));
    return std::string();
  }
  if (meta->state == "running") {
    BAWN_CHECK_OK(WriteInterrupted(*dir, *meta));
    meta->state = "interrupted";
    meta->kept = !meta->ephemeral;
    if (meta->ephemeral && !meta->common_dir.empty()) {
      BAWN_CHECK_OK(workspace::UnpinBase(meta->common_dir, id));
    }
    BAWN_CHECK_OK(workspace::WriteMeta(*dir, *meta, false));
  }
  BAWN_CHECK_OK(RemoveRuntimeParts(*dir, meta->kept));
  BAWN_CHECK_OK(MarkEnded(state, id));
  return meta->name + " was interrupted; " +
         (meta->kept ? "its changes are kept: bawn diff " + meta->name : "nothing of it is left");
}

}  // namespace

Result<> MarkRunning(const workspace::StateDir& state, const std::string& id) {
  UniqueFd running = BAWN_TRY(RunningDir(state));
  BAWN_CHECK_OK(sys::Openat2(running.get(), id, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  return {};
}

Result<> MarkEnded(const workspace::StateDir& state, const std::string& id) {
  UniqueFd running = BAWN_TRY(RunningDir(state));
  Result<> gone = sys::Unlinkat(running.get(), id);
  if (Missing(gone)) return {};
  return gone;
}

Result<std::vector<std::string>> RecoverInterrupted(const workspace::StateDir& state) {
  UniqueFd running = BAWN_TRY(RunningDir(state));
  std::vector<std::string> lines;
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(running.get()))) {
    if (!IsId(entry.name, "sb_")) continue;
    Result<std::string> line = RecoverOne(state, entry.name);
    if (!line) lines.push_back(entry.name + " could not be cleaned: " + line.error().message);
    if (line && !line->empty()) lines.push_back(*line);
  }
  return lines;
}

namespace {

// The groups are gone with the sandbox, but for a Bawn that was killed before it could remove them.
Result<> EndGroups(const workspace::SandboxDir& dir) {
  Result<std::string> record = sys::ReadFileAt(dir.fd.get(), kCgroupRecord, 1 << 16);
  if (!record && record.error().sys_errno == ENOENT) return {};
  BAWN_CHECK_OK(record);
  std::vector<std::string> directories;
  for (size_t at = 0; at < record->size();) {
    size_t end = std::min(record->find('\n', at), record->size());
    directories.push_back(record->substr(at, end - at));
    at = end + 1;
  }
  contain::Cgroup group =
      BAWN_TRY(contain::Cgroup::Find(directories, contain::Cgroup::NameFor(dir.id)));
  BAWN_CHECK_OK(group.End(launch::kGoneDeadlineMs));
  return sys::Unlinkat(dir.fd.get(), kCgroupRecord);
}

}  // namespace

Result<> RemoveRuntimeParts(const workspace::SandboxDir& dir, bool keep_changes) {
  BAWN_CHECK_OK(EndGroups(dir));
  for (const char* socket : {"witness", launch::kKeeperSocket}) {
    Result<> gone = sys::Unlinkat(dir.fd.get(), socket);
    if (!gone && !Missing(gone)) return gone;
  }
  // What caches and a private home hold ends with pid 1, whether or not changes are kept.
  BAWN_CHECK_OK(workspace::RemoveTree(dir.fd.get(), kPrivateDir));
  if (keep_changes) return {};
  for (const char* part : {"layers", "initial", "git"}) {
    Result<> removed = workspace::RemoveTree(dir.fd.get(), part);
    if (!removed && !Missing(removed)) return removed;
  }
  return {};
}

}  // namespace bawn::service
