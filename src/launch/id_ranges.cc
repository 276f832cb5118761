#include "launch/id_ranges.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sstream>

#include "base/ids.h"
#include "sys/files.h"

namespace bawn::launch {
namespace {

constexpr char kDirectory[] = "ids";
constexpr char kLockName[] = "lock";
constexpr size_t kRecordBytesMax = 256;
constexpr size_t kRecordsMax = 1 << 20;
// sb/<id>/layers/<n>/upper and the entries of that upper.
constexpr int kShallowLevels = 4;
constexpr int kWholeLevels = 256;

std::string Text(const IdLease& lease) {
  return lease.sandbox_id + " " + std::to_string(lease.outer_uid) + " " +
         std::to_string(lease.outer_gid) + " " + std::to_string(lease.count) + "\n";
}

Result<IdLease> Parse(const std::string& file, const std::string& text) {
  IdLease lease;
  std::istringstream in(text);
  in >> lease.sandbox_id >> lease.outer_uid >> lease.outer_gid >> lease.count;
  if (in && Text(lease) == text && IsId(lease.sandbox_id, "sb_")) return lease;
  return Fail(ErrorCode::kFailedPrecondition, "the lease record ids/" + file + " is damaged",
              "look which sandbox used it, remove its processes and files, then remove the record");
}

contain::SubIds SpanOf(const IdLease& lease) {
  return {{lease.outer_uid, lease.count}, {lease.outer_gid, lease.count}};
}

bool Overlap(const contain::IdSpan& a, const contain::IdSpan& b) {
  return uint64_t{a.first} < uint64_t{b.first} + b.count &&
         uint64_t{b.first} < uint64_t{a.first} + a.count;
}

bool Overlap(const IdLease& a, const IdLease& b) {
  contain::SubIds left = SpanOf(a), right = SpanOf(b);
  return Overlap(left.uids, right.uids) || Overlap(left.gids, right.gids);
}

bool Uses(const UsedId& used, const IdLease& lease) {
  uint32_t first = used.kind == IdKind::kUser ? lease.outer_uid : lease.outer_gid;
  return used.id >= first && used.id - first < lease.count;
}

Result<UniqueFd> OpenOrMakeDir(int parent, const char* name) {
  Result<> made = sys::Mkdirat(parent, name, 0700);
  if (!made && made.error().sys_errno != EEXIST) return std::unexpected(made.error());
  return sys::OpenDir(parent, name, sys::kUntrusted);
}

// What a writer that was killed left: under the lock nobody else is writing.
void RemoveTemporaries(int ids) {
  Result<UniqueFd> dir = sys::OpenDir(ids, ".");
  if (!dir) return;  // Records() reports it
  Result<std::vector<sys::DirEntry>> entries = sys::ListDir(dir->get(), kRecordsMax);
  for (size_t i = 0; entries && i < entries->size(); ++i) {
    const std::string& name = (*entries)[i].name;
    if (name.starts_with(".tmp_")) (void)sys::Unlinkat(ids, name);
  }
}

}  // namespace

Result<IdRanges> IdRanges::Open(const workspace::StateDir& state,
                                const contain::SubIdFiles& files) {
  IdRanges ranges;
  ranges.span_ = BAWN_TRY(contain::ReadSubIds(files));
  if (std::min(ranges.span_.uids.count, ranges.span_.gids.count) < kIdsPerLease) {
    return Fail(ErrorCode::kFailedPrecondition,
                "the entries for bawn in " + files.subuid + " and " + files.subgid +
                    " need at least " + std::to_string(kIdsPerLease) + " ids",
                "use 1048576 ids: 1024 sandboxes", "subids");
  }
  ranges.state_ = BAWN_TRY(sys::Dup(state.fd.get()));
  ranges.ids_ = BAWN_TRY(OpenOrMakeDir(state.fd.get(), kDirectory));
  return ranges;
}

Result<UniqueFd> IdRanges::Lock() const {
  UniqueFd lock =
      BAWN_TRY(sys::Openat2(ids_.get(), kLockName, O_RDWR | O_CREAT, 0600, sys::kUntrusted));
  BAWN_CHECK_OK(sys::Flock(lock.get(), sys::LockKind::kExclusive));
  return lock;
}

Result<std::vector<IdRanges::Record>> IdRanges::Records() const {
  std::vector<Record> records;
  // A fresh descriptor: a directory's offset is shared by its duplicates.
  UniqueFd dir = BAWN_TRY(sys::OpenDir(ids_.get(), "."));
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(dir.get(), kRecordsMax))) {
    // Temporary siblings of an interrupted write never named a range that was used.
    if (entry.name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string text =
        BAWN_TRY(sys::ReadFileAt(ids_.get(), entry.name, kRecordBytesMax, sys::kUntrusted));
    records.push_back({entry.name, BAWN_TRY(Parse(entry.name, text))});
  }
  return records;
}

Result<std::vector<IdLease>> IdRanges::List() const {
  std::vector<IdLease> leases;
  for (Record& record : BAWN_TRY(Records())) leases.push_back(std::move(record.lease));
  return leases;
}

Result<std::vector<UsedId>> IdRanges::Survivors(const contain::SubIds& span) const {
  std::vector<UsedId> used = BAWN_TRY(UsedByKernel(span));
  Result<UniqueFd> sandboxes = sys::OpenDir(state_.get(), "sb", sys::kUntrusted);
  if (!sandboxes && sandboxes.error().sys_errno == ENOENT) return used;
  if (!sandboxes) return std::unexpected(sandboxes.error());
  for (UsedId& file : BAWN_TRY(UsedByFiles(span, sandboxes->get(), kShallowLevels, false))) {
    used.push_back(std::move(file));
  }
  return used;
}

Result<IdLease> IdRanges::Lease(const std::string& sandbox_id) {
  BAWN_ASSERT(IsId(sandbox_id, "sb_"));
  UniqueFd lock = BAWN_TRY(Lock());
  RemoveTemporaries(ids_.get());
  std::vector<Record> records = BAWN_TRY(Records());
  for (const Record& record : records) {
    if (record.lease.sandbox_id != sandbox_id) continue;
    return Fail(ErrorCode::kConflict, sandbox_id + " has a lease of ids already");
  }
  std::vector<UsedId> used = BAWN_TRY(Survivors(span_));
  uint32_t leases = std::min(span_.uids.count, span_.gids.count) / kIdsPerLease;
  for (uint32_t index = 0; index < leases; ++index) {
    IdLease lease = {sandbox_id, span_.uids.first + index * kIdsPerLease,
                     span_.gids.first + index * kIdsPerLease, kIdsPerLease};
    bool taken = std::any_of(records.begin(), records.end(), [&](const Record& record) {
      return record.file == std::to_string(index) || Overlap(record.lease, lease);
    });
    bool survived =
        std::any_of(used.begin(), used.end(), [&](const UsedId& one) { return Uses(one, lease); });
    if (taken || survived) continue;
    // Not durable: what a power failure takes with the record is also every process, and files of
    // the range are found by their owner.
    BAWN_CHECK_OK(
        sys::WriteFileAtomic(ids_.get(), std::to_string(index), Text(lease), 0600, false));
    return lease;
  }
  return Fail(ErrorCode::kResourceExhausted,
              "all " + std::to_string(leases) + " ranges of ids are in use (" +
                  std::to_string(records.size()) + " leases)",
              "discard sandboxes, or enlarge the entry for bawn in /etc/subuid and /etc/subgid",
              "subids");
}

Result<> IdRanges::CheckUnused(const IdLease& lease) const {
  std::vector<UsedId> used = BAWN_TRY(UsedByKernel(SpanOf(lease)));
  Result<UniqueFd> sandbox = sys::OpenDir(state_.get(), "sb/" + lease.sandbox_id, sys::kUntrusted);
  if (!sandbox && sandbox.error().sys_errno != ENOENT) return std::unexpected(sandbox.error());
  if (sandbox && used.empty()) {
    used = BAWN_TRY(UsedByFiles(SpanOf(lease), sandbox->get(), kWholeLevels, true));
  }
  if (used.empty()) return {};
  return Fail(ErrorCode::kConflict,
              "ids of " + lease.sandbox_id + " are still in use: " + used[0].by + " has " +
                  (used[0].kind == IdKind::kUser ? "uid " : "gid ") + std::to_string(used[0].id),
              "end that process or discard the sandbox", "subids");
}

Result<> IdRanges::ReleaseLocked(const std::string& sandbox_id) {
  for (const Record& record : BAWN_TRY(Records())) {
    if (record.lease.sandbox_id != sandbox_id) continue;
    BAWN_CHECK_OK(CheckUnused(record.lease));
    return sys::Unlinkat(ids_.get(), record.file);
  }
  return Fail(ErrorCode::kNotFound, sandbox_id + " has no lease of ids");
}

Result<> IdRanges::Release(const std::string& sandbox_id) {
  UniqueFd lock = BAWN_TRY(Lock());
  return ReleaseLocked(sandbox_id);
}

Result<std::vector<IdRanges::Remaining>> IdRanges::ReleaseAbandoned(
    const std::function<bool(const std::string& sandbox_id)>& is_wanted) {
  UniqueFd lock = BAWN_TRY(Lock());
  std::vector<Remaining> remaining;
  for (const Record& record : BAWN_TRY(Records())) {
    if (is_wanted(record.lease.sandbox_id)) continue;
    Result<> released = ReleaseLocked(record.lease.sandbox_id);
    if (!released) remaining.push_back({record.lease, released.error().message});
  }
  return remaining;
}

}  // namespace bawn::launch
