#include "workspace/owner_open.h"

#include <cerrno>
#include <utility>
#include <vector>

namespace bawn::workspace {
namespace {

constexpr int kReadFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;

}  // namespace

WidenedMode& WidenedMode::operator=(WidenedMode&& other) noexcept {
  if (this != &other) {
    Restore();
    held_ = std::move(other.held_);
    mode_ = other.mode_;
  }
  return *this;
}

void WidenedMode::Restore() {
  // Best effort in a destructor: a directory that is gone needs no mode.
  if (held_.valid()) (void)sys::FchmodPath(held_.get(), mode_);
  held_.Reset();
}

Result<OwnedDir> OpenDirAsOwner(int dirfd, std::string_view name, uint32_t known_mode) {
  OwnedDir dir;
  Result<UniqueFd> fd = sys::Openat2(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (fd) {
    dir.fd = std::move(*fd);
    if (known_mode == 0) known_mode = BAWN_TRY(sys::Fstat(dir.fd.get())).mode;
    // Readable but not searchable: names can be listed and nothing behind them looked at.
    if ((known_mode & 0100) != 0) return dir;
  } else if (fd.error().sys_errno != EACCES) {
    return std::unexpected(std::move(fd).error());
  }
  UniqueFd held = BAWN_TRY(sys::Openat2(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  uint32_t mode = BAWN_TRY(sys::Fstat(held.get())).mode & 07777;
  BAWN_CHECK_OK(sys::FchmodPath(held.get(), mode | 0700));
  dir.fd = BAWN_TRY(sys::OpenDir(held.get(), "."));
  dir.widened = WidenedMode(std::move(held), mode);
  return dir;
}

Result<UniqueFd> OpenFileAsOwner(int dirfd, std::string_view name) {
  Result<UniqueFd> fd = sys::Openat2(dirfd, name, kReadFlags);
  if (fd || fd.error().sys_errno != EACCES) return fd;
  UniqueFd held = BAWN_TRY(sys::Openat2(dirfd, name, O_PATH | O_NOFOLLOW));
  sys::FileStat st = BAWN_TRY(sys::Fstat(held.get()));
  if (!st.IsRegular()) return fd;
  uint32_t mode = st.mode & 07777;
  BAWN_CHECK_OK(sys::FchmodPath(held.get(), (mode & 0777) | 0400));
  fd = sys::Reopen(held.get(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  BAWN_CHECK_OK(sys::FchmodPath(held.get(), mode));
  return fd;
}

Result<UniqueFd> OpenPathAsOwner(int rootfd, std::string_view path, OpenAs as) {
  int flags = as == OpenAs::kLink ? O_PATH | O_NOFOLLOW : kReadFlags;
  Result<UniqueFd> direct = sys::Openat2(rootfd, path, flags, 0, sys::kUntrusted);
  if (direct || direct.error().sys_errno != EACCES) return direct;
  std::vector<WidenedMode> widened;
  UniqueFd held;
  int dirfd = rootfd;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    std::string_view name = path.substr(0, slash);
    BAWN_ASSERT(!name.empty() && name != "." && name != "..");
    OwnedDir dir = BAWN_TRY(OpenDirAsOwner(dirfd, name));
    widened.push_back(std::move(dir.widened));
    held = std::move(dir.fd);
    dirfd = held.get();
    path.remove_prefix(slash + 1);
  }
  if (as == OpenAs::kLink) return sys::Openat2(dirfd, path, flags);
  return OpenFileAsOwner(dirfd, path);
}

}  // namespace bawn::workspace
