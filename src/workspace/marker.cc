#include "workspace/marker.h"

#include <cerrno>
#include <utility>

#include "base/ids.h"
#include "sys/files.h"

namespace bawn::workspace {
namespace {

constexpr char kDirectory[] = "running";

Result<UniqueFd> OpenMarkers(const StateDir& state) {
  Result<> made = sys::Mkdirat(state.fd.get(), kDirectory, 0700);
  if (!made && made.error().sys_errno != EEXIST) return std::unexpected(made.error());
  return sys::OpenDir(state.fd.get(), kDirectory, sys::kUntrusted);
}

// A lock on a file that was removed meanwhile is worth nothing.
Result<bool> IsStillThere(int markers, const std::string& id, const UniqueFd& marker) {
  Result<sys::FileStat> named = sys::Fstatat(markers, id);
  if (!named && named.error().sys_errno == ENOENT) return false;
  if (!named) return std::unexpected(named.error());
  return named->ino == BAWN_TRY(sys::Fstat(marker.get())).ino;
}

}  // namespace

Result<UniqueFd> Mark(const StateDir& state, const std::string& id) {
  UniqueFd markers = BAWN_TRY(OpenMarkers(state));
  while (true) {
    UniqueFd marker =
        BAWN_TRY(sys::Openat2(markers.get(), id, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
    // Who recovers it holds it for a moment.
    BAWN_CHECK_OK(sys::Flock(marker.get(), sys::LockKind::kExclusive));
    if (BAWN_TRY(IsStillThere(markers.get(), id, marker))) return marker;
  }
}

Result<> Unmark(const StateDir& state, const std::string& id) {
  UniqueFd markers = BAWN_TRY(OpenMarkers(state));
  Result<> gone = sys::Unlinkat(markers.get(), id);
  if (!gone && gone.error().sys_errno != ENOENT) return gone;
  return {};
}

Result<std::vector<std::string>> MarkedIds(const StateDir& state) {
  UniqueFd markers = BAWN_TRY(OpenMarkers(state));
  std::vector<std::string> ids;
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(markers.get()))) {
    if (IsId(entry.name, "sb_")) ids.push_back(entry.name);
  }
  return ids;
}

Result<std::optional<UniqueFd>> TakeMarker(const StateDir& state, const std::string& id) {
  std::optional<UniqueFd> nobody;
  UniqueFd markers = BAWN_TRY(OpenMarkers(state));
  Result<UniqueFd> marker = sys::Openat2(markers.get(), id, O_WRONLY | O_NOFOLLOW);
  if (!marker && marker.error().sys_errno == ENOENT) return nobody;
  if (!marker) return std::unexpected(marker.error());
  Result<> locked = sys::Flock(marker->get(), sys::LockKind::kExclusiveNonBlocking);
  if (!locked && locked.error().code == ErrorCode::kConflict) return nobody;
  if (!locked) return std::unexpected(locked.error());
  if (!BAWN_TRY(IsStillThere(markers.get(), id, *marker))) return nobody;
  return std::optional<UniqueFd>(std::move(*marker));
}

}  // namespace bawn::workspace
