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
#include "service/retention.h"
#include "service/session.h"
#include "sys/files.h"
#include "workspace/marker.h"
#include "workspace/open.h"
#include "workspace/remove.h"

namespace bawn::service {
namespace {

// The receipt of a job that nobody could write one for.
Result<> WriteInterrupted(const workspace::SandboxDir& dir, const workspace::SandboxMeta& meta,
                          const std::string& job_id) {
  plan::Receipt receipt;
  receipt.sandbox_id = meta.id;
  receipt.sandbox_name = meta.name;
  receipt.job_id = job_id;
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

// What its meta.json is to say from now on, and the words for it; none where its keeper ended it
// and every job of it was told so.
Result<std::string> EndByState(const workspace::SandboxDir& dir, workspace::SandboxMeta& meta) {
  std::vector<std::string> jobs = BAWN_TRY(record::JobsWithoutReceipt(dir.fd.get()));
  for (const std::string& job : jobs) BAWN_CHECK_OK(WriteInterrupted(dir, meta, job));
  std::string line = meta.name + ": the command that worked on it was cut short";
  if (!jobs.empty()) line = meta.name + " was interrupted";
  if (meta.state == "live" && jobs.empty()) line.clear();
  bool open = meta.state == "running" || meta.state == "live";
  if (!open && (!meta.ephemeral || jobs.empty())) return line;
  // It may have written; in a live one, after the last job that could say what changed.
  if (meta.state == "running" || !jobs.empty()) meta.kept = !meta.ephemeral;
  meta.state = jobs.empty() ? "ended" : "interrupted";
  BAWN_CHECK_OK(workspace::WriteMeta(dir, meta, false));
  return line;
}

// Files that were being written (sys::WriteFileAtomic): in the sandbox's directory, its jobs' and
// what applies replaced.
Result<> RemoveTemporaries(int directory) {
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(directory))) {
    if (entry.name.starts_with(".tmp_")) BAWN_CHECK_OK(sys::Unlinkat(directory, entry.name));
  }
  return {};
}

Result<> RemoveAllTemporaries(const workspace::SandboxDir& dir) {
  BAWN_CHECK_OK(RemoveTemporaries(dir.fd.get()));
  for (const char* name : {"jobs", "journal"}) {
    Result<UniqueFd> all = sys::OpenDir(dir.fd.get(), name, sys::kUntrusted);
    if (!all && all.error().sys_errno == ENOENT) continue;
    if (!all) return std::unexpected(std::move(all).error());
    for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(all->get()))) {
      UniqueFd one = BAWN_TRY(sys::OpenDir(all->get(), entry.name, sys::kUntrusted));
      BAWN_CHECK_OK(RemoveTemporaries(one.get()));
    }
  }
  return {};
}

// Its processes are gone already: pid 1 ends with its control socket.
Result<std::string> RecoverOpened(const workspace::SandboxDir& dir, workspace::SandboxMeta& meta) {
  BAWN_CHECK_OK(RemoveAllTemporaries(dir));
  if (workspace::IsEnded(meta.state)) {  // all but the clean-up had been done
    BAWN_CHECK_OK(RemoveRuntimeParts(dir, true));
    BAWN_CHECK_OK(workspace::EndChanges(dir, meta));
    BAWN_CHECK_OK(workspace::RemoveEnded(dir));
    return meta.name + " had been " + meta.state + "; the end of that was finished now";
  }
  std::string line = BAWN_TRY(EndByState(dir, meta));
  Result<sys::FileStat> intent = sys::Fstatat(dir.fd.get(), workspace::kPublishing);
  bool publishing = intent || intent.error().sys_errno != ENOENT;
  if (!publishing && !meta.common_dir.empty()) {
    BAWN_CHECK_OK(workspace::RemoveGitTemporaries(meta));
  }
  if (!meta.kept) BAWN_CHECK_OK(workspace::EndChanges(dir, meta));
  BAWN_CHECK_OK(RemoveRuntimeParts(dir, meta.kept));
  if (meta.kept) {
    BAWN_CHECK_OK(NoteLostWriteBack(dir, &meta));
    BAWN_CHECK_OK(StartWriteBack(dir));
  }
  if (line.empty()) return line;
  return line +
         (meta.kept ? "; its changes are kept: bawn diff " + meta.name : "; nothing of it is left");
}

// Ends what the marker `id` names, unless somebody is at work on it: then the line is empty.
Result<std::string> RecoverOne(const workspace::StateDir& state, const std::string& id) {
  std::optional<UniqueFd> marker = BAWN_TRY(workspace::TakeMarker(state, id));
  if (!marker) return std::string();
  // A live one is met at every command: its keeper is not waited for.
  Result<workspace::SandboxDir> seen = workspace::OpenSandboxDir(state, id, false);
  if (seen && workspace::IsHeld(*seen)) return std::string();
  Result<workspace::SandboxDir> dir = workspace::OpenSandboxDir(state, id, true);
  if (!dir && dir.error().code == ErrorCode::kConflict) return std::string();  // its keeper has it
  std::string line;
  if (dir) {
    Result<workspace::SandboxMeta> meta = workspace::ReadMeta(*dir);
    if (meta) {
      line = BAWN_TRY(RecoverOpened(*dir, *meta));
    } else if (meta.error().sys_errno == ENOENT) {     // killed while it was opened: nothing ran
      BAWN_CHECK_OK(RemoveRuntimeParts(*dir, false));  // its control groups, too
      BAWN_CHECK_OK(workspace::RemoveSandboxDir(state, std::move(*dir)));
    } else {
      return std::unexpected(meta.error());
    }
  } else if (dir.error().code != ErrorCode::kNotFound) {
    return std::unexpected(dir.error());
  }
  BAWN_CHECK_OK(workspace::RemoveHalves(state, id));
  BAWN_CHECK_OK(workspace::Unmark(state, id));
  return line;
}

}  // namespace

Result<std::vector<std::string>> RecoverInterrupted(const workspace::StateDir& state) {
  std::vector<std::string> lines;
  for (const std::string& id : BAWN_TRY(workspace::MarkedIds(state))) {
    Result<std::string> line = RecoverOne(state, id);
    if (!line) lines.push_back(id + " could not be cleaned: " + line.error().message);
    if (line && !line->empty()) lines.push_back(*line);
  }
  Result<> swept = RemoveExpired(state, RealtimeNs());
  if (!swept) lines.push_back("old receipts could not be removed: " + swept.error().message);
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
    if (!gone && gone.error().sys_errno != ENOENT) return gone;
  }
  // What caches and a private home hold ends with pid 1, whether or not changes are kept.
  BAWN_CHECK_OK(workspace::RemoveTree(dir.fd.get(), kPrivateDir));
  return keep_changes ? Result<>() : workspace::RemoveChanges(dir);
}

}  // namespace bawn::service
