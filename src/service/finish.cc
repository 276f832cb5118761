// From the keeper's report to the receipt; then only changes, receipt and kept output stay.
#include <fcntl.h>

#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "record/receipts.h"
#include "service/durable.h"
#include "service/recover.h"
#include "service/root_mode.h"
#include "service/session.h"
#include "sys/files.h"
#include "workspace/changes.h"
#include "workspace/marker.h"

namespace bawn::service {
namespace {

// Counts what the sandbox changed, and whether there is anything to review at all.
Result<uint64_t> CountChanges(const Session& session, plan::Receipt* receipt) {
  workspace::ReadOptions names{.hash = false};
  workspace::ChangeSet set =
      BAWN_TRY(workspace::ReadChanges(session.dir, session.opened.meta, names));
  uint64_t added = 0, modified = 0, deleted = 0, bytes = 0;
  for (const workspace::Change& change : set.changes) {
    bytes += change.new_size;
    added += change.kind == workspace::ChangeKind::kAdded ? 1 : 0;
    modified += change.kind == workspace::ChangeKind::kModified ? 1 : 0;
    deleted += change.kind == workspace::ChangeKind::kDeleted ? 1 : 0;
  }
  receipt->workspace.added = added;
  receipt->workspace.modified = modified;
  receipt->workspace.deleted = deleted;
  receipt->workspace.bytes = bytes;
  return set.changes.size();
}

std::vector<plan::LimitReport> Limits(const policy::Limits& limits, plan::Level level) {
  std::vector<plan::LimitReport> reports;
  std::string whole_tree = level >= plan::Level::kBounded ? "enforced" : "approximate";
  auto add = [&](const char* name, const std::optional<uint64_t>& value, std::string state) {
    if (value) reports.push_back({name, *value, std::move(state)});
  };
  add("time", limits.time_ms, "enforced");
  add("idle", limits.idle_ms, "enforced");
  add("output", limits.output_bytes, "enforced");
  add("pids", limits.pids, level >= plan::Level::kIsolated ? "enforced" : "not_enforced");
  add("memory", limits.memory_bytes, whole_tree);
  add("cpu", limits.cpus_milli, level >= plan::Level::kBounded ? "enforced" : "not_enforced");
  add("disk", limits.disk_bytes, "approximate");
  add("inodes", limits.inodes, "approximate");
  return reports;
}

}  // namespace

plan::Receipt MakeReceipt(const Session& session, const launch::JobReport& report) {
  plan::Receipt receipt;
  const workspace::SandboxMeta& meta = session.opened.meta;
  receipt.sandbox_id = meta.id;
  receipt.sandbox_name = meta.name;
  receipt.job_id = session.job_id;
  receipt.command = session.compiled.job.argv;
  receipt.started_at_ns = report.started_at_ns;
  receipt.ended_at_ns = report.ended_at_ns;
  receipt.outcome = report.outcome;
  receipt.requested = session.level;
  bool lost = report.outcome.kind == plan::OutcomeKind::kInterrupted && !report.started;
  bool stood = report.outcome.kind != plan::OutcomeKind::kSetupFailed && !lost;
  receipt.obtained = stood ? session.level : plan::Level::kNone;
  receipt.downgrade_reason = stood ? session.downgrade_reason : report.failure;
  receipt.layers = report.layers;
  receipt.limits = Limits(session.compiled.limits, session.level);
  receipt.cpu_ms = report.cpu_ms;
  receipt.memory_peak_bytes = report.memory_peak_bytes;
  receipt.pids_peak = report.pids_peak;
  receipt.workspace.mode = meta.mode;
  receipt.workspace.rung = meta.rung;
  receipt.workspace.path = meta.workspace_path;
  receipt.workspace.base_commit = meta.base_commit;
  receipt.workspace.covered = meta.covered;
  receipt.direct_writes = session.compiled.direct_writes;
  receipt.out = report.out;
  receipt.err = report.err;
  receipt.policy_digest = session.policy.digest;
  for (const policy::Origin& source : session.policy.sources) {
    receipt.policy_sources.push_back(source.file);
  }
  receipt.remaining = report.remaining;
  if (!receipt.pids_peak) {
    const char* why = session.level >= plan::Level::kBounded
                          ? "its control group is the whole sandbox's, not the job's"
                          : "no control group of its own at this level";
    receipt.unmeasured.emplace_back("usage.pids_peak", why);
  }
  return receipt;
}

Result<> WriteDecisions(const Session& session) {
  JsonArray all;
  for (const plan::Decision& decision : session.compiled.decisions) {
    constexpr std::string_view kVerdicts[] = {"deny", "allow", "ask"};
    JsonObject one;
    one["verdict"] = kVerdicts[static_cast<uint8_t>(decision.verdict)];
    one["subject"] = EscapeName(decision.subject);
    one["rule"] = decision.rule_id;
    one["file"] = EscapeName(decision.file);
    one["line"] = decision.line;
    one["reason"] = EscapeName(decision.reason);
    one["remedy"] = EscapeName(decision.remedy);
    all.emplace_back(std::move(one));
  }
  return sys::WriteFileAtomic(session.dir.fd.get(), "decisions.json",
                              ToJsonText(Json(std::move(all))), 0600, false);
}

namespace {

// Several jobs of a live sandbox end side by side: the record is read again under its own lock.
Result<> UpdateMeta(Session* session, bool has_changes, bool ran) {
  workspace::SandboxMeta& meta = session->opened.meta;
  UniqueFd lock;
  if (session->attached) {
    lock = BAWN_TRY(
        sys::Openat2(session->dir.fd.get(), "meta.lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    BAWN_CHECK_OK(sys::Flock(lock.get(), sys::LockKind::kExclusive));
    meta = BAWN_TRY(workspace::ReadMeta(session->dir));
  } else if (meta.ephemeral) {
    return {};  // written as ended from the start: one that is killed is found by its marker
  }
  meta.kept = has_changes;
  meta.state = session->attached ? "live" : "ended";
  meta.rev += ran ? 1 : 0;
  meta.command = session->compiled.job.argv;
  return workspace::WriteMeta(session->dir, meta, false);
}

}  // namespace

Result<RunResult> FinishSession(Session* session, const RunOptions& options,
                                const launch::JobReport& report) {
  RunResult result;
  result.receipt = MakeReceipt(*session, report);
  workspace::SandboxMeta& meta = session->opened.meta;
  bool ran = report.outcome.kind != plan::OutcomeKind::kSetupFailed;
  bool in_place = session->level == plan::Level::kNone;
  if (options.ephemeral || in_place || !ran) {
    const char* why = !ran       ? "nothing ran"
                      : in_place ? "level none: changes are made in place, unseen"
                                 : "--ephemeral: the changes were dropped";
    result.receipt.unmeasured.emplace_back("workspace.added", why);
  } else {
    result.pending_changes = BAWN_TRY(CountChanges(*session, &result.receipt));
  }
  // Where nothing ran, what an earlier job of this sandbox changed is still there.
  BAWN_CHECK_OK(UpdateMeta(session, ran ? result.pending_changes > 0 : meta.kept, ran));
  bool gone = report.remaining.empty();
  result.receipt.workspace.durable = meta.kept && gone && !session->attached ? "pending" : "none";
  SetExit(report, session->compiled.job.argv, &result);
  BAWN_CHECK_OK(record::WriteReceipt(session->dir.fd.get(), result.receipt, false));
  if (!options.receipt_file.empty()) {
    BAWN_CHECK_OK(record::WriteReceiptFile(AbsolutePath(session->caller, options.receipt_file),
                                           result.receipt));
  }
  if (session->attached) return result;  // it lives on, with its keeper
  if (!meta.kept && !meta.common_dir.empty() && !options.ephemeral) {
    BAWN_CHECK_OK(workspace::UnpinBase(meta.common_dir, meta.id));
  }
  if (!gone) return result;  // the handle is kept: the marker stays, the next command tries again
  BAWN_CHECK_OK(RemoveRuntimeParts(session->dir, meta.kept));
  BAWN_CHECK_OK(LeaveRootMode(*session));
  if (meta.kept) BAWN_CHECK_OK(StartWriteBack(session->dir));
  BAWN_CHECK_OK(workspace::Unmark(session->state, meta.id));
  return result;
}

}  // namespace bawn::service
