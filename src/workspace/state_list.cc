// All sandboxes of a state directory.
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/ids.h"
#include "sys/files.h"
#include "workspace/state.h"

namespace bawn::workspace {
namespace {

// Takes the lock for a moment; OpenSandboxDir waits longer than that. kConflict: somebody has it.
Result<> TryLock(const SandboxDir& dir) {
  UniqueFd lock = BAWN_TRY(sys::Openat2(dir.fd.get(), "lock", O_RDONLY, 0, sys::kUntrusted));
  return sys::Flock(lock.get(), sys::LockKind::kExclusiveNonBlocking);
}

// Damaged is what a record is, not what could not be read for want of a descriptor: that is told,
// for `discard` would take it for old and act on it, and @last would mean another one.
Result<ListedSandbox> Look(const SandboxDir& dir) {
  ListedSandbox listed;
  Result<> locked = TryLock(dir);
  if (!locked && IsMomentary(locked.error())) return std::unexpected(std::move(locked).error());
  listed.live = !locked && locked.error().code == ErrorCode::kConflict;
  if (!locked && !listed.live) listed.damaged = locked.error().message;
  Result<SandboxMeta> meta = ReadMeta(dir);
  if (meta) {
    listed.meta = *std::move(meta);
  } else if (IsMomentary(meta.error())) {
    return std::unexpected(std::move(meta).error());
  } else {
    listed.damaged = meta.error().message;
    listed.meta.id = dir.id;
  }
  return listed;
}

Result<std::vector<sys::DirEntry>> Entries(const StateDir& state, UniqueFd* sandboxes) {
  Result<UniqueFd> fd = sys::OpenDir(state.fd.get(), "sb", sys::kUntrusted);
  if (!fd && fd.error().sys_errno == ENOENT) return std::vector<sys::DirEntry>{};
  if (!fd) return std::unexpected(fd.error());
  *sandboxes = std::move(*fd);
  return sys::ListDir(sandboxes->get());
}

}  // namespace

bool IsHeld(const SandboxDir& dir) {
  Result<> locked = TryLock(dir);
  return !locked && locked.error().code == ErrorCode::kConflict;
}

Result<std::vector<ListedSandbox>> ListSandboxes(const StateDir& state) {
  UniqueFd sandboxes;
  std::vector<ListedSandbox> list;
  for (const sys::DirEntry& entry : BAWN_TRY(Entries(state, &sandboxes))) {
    if (!IsId(entry.name, "sb_")) continue;
    Result<SandboxDir> dir = OpenSandboxDir(state, entry.name, false);
    if (dir) {
      list.push_back(BAWN_TRY(Look(*dir)));
    } else if (IsMomentary(dir.error())) {
      return std::unexpected(std::move(dir).error());
    } else if (dir.error().code != ErrorCode::kNotFound) {  // kNotFound: removed meanwhile
      ListedSandbox listed;
      listed.meta.id = entry.name;
      listed.damaged = dir.error().message;
      list.push_back(std::move(listed));
    }
  }
  return list;
}

Result<> SweepUnfinished(const StateDir& state) {
  UniqueFd sandboxes;
  for (const sys::DirEntry& entry : BAWN_TRY(Entries(state, &sandboxes))) {
    if (!entry.name.starts_with(kNewPrefix)) continue;
    SandboxDir dir;
    dir.fd = BAWN_TRY(sys::OpenDir(sandboxes.get(), entry.name, sys::kUntrusted));
    if (Result<> locked = TryLock(dir); !locked) {
      if (locked.error().code == ErrorCode::kConflict) continue;  // being made right now
      // No lock file: either the maker is between two calls or it died there. Age decides.
      constexpr int64_t kGraceNs = 60LL * 1'000'000'000;
      sys::FileStat st = BAWN_TRY(sys::Fstat(dir.fd.get()));
      if (RealtimeNs() - st.ctime_ns < kGraceNs) continue;
    }
    BAWN_CHECK_OK(RemoveTree(sandboxes.get(), entry.name));
  }
  return {};
}

}  // namespace bawn::workspace
