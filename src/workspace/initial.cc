#include "workspace/initial.h"

#include <cerrno>

namespace bawn::workspace {

Result<> InitialLayer::MakeParents(const std::string& path) {
  if (!initial_.valid()) {
    Result<> made = sys::Mkdirat(sandbox_fd_, "initial", 0700);
    if (!made && made.error().sys_errno != EEXIST) return made;
    initial_ = BAWN_TRY(sys::OpenDir(sandbox_fd_, "initial", sys::kUntrusted));
  }
  for (size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    std::string parent = path.substr(0, at);
    if (!made_.insert(parent).second) continue;
    BAWN_CHECK_OK(sys::Mkdirat(initial_.get(), parent, 0700));
    parents_.push_back(parent);
  }
  return {};
}

Result<UniqueFd> InitialLayer::HideDirectory(const std::string& path) {
  BAWN_CHECK_OK(MakeParents(path));
  Result<sys::FileStat> hidden = sys::Fstatat(root_fd_, path);
  uint32_t mode = hidden && hidden->IsDir() ? hidden->mode & 0777 : 0755;
  BAWN_CHECK_OK(sys::Mkdirat(initial_.get(), path, 0700));
  made_.insert(path);
  replaced_.insert(path);
  UniqueFd fd = BAWN_TRY(sys::OpenDir(initial_.get(), path, sys::kUntrusted));
  BAWN_CHECK_OK(sys::Fchmod(fd.get(), mode | 0700));
  // On a file system without user.* attributes the tree is copied, and nothing needs hiding.
  Result<> opaque = sys::Lsetxattrat(initial_.get(), path, "user.overlay.opaque", "y");
  if (!opaque && opaque.error().sys_errno != ENOTSUP) return std::unexpected(opaque.error());
  return fd;
}

Result<> InitialLayer::HideFile(const std::string& path) {
  BAWN_CHECK_OK(MakeParents(path));
  sys::FileStat hidden = BAWN_TRY(sys::Fstatat(root_fd_, path));
  UniqueFd fd =
      BAWN_TRY(sys::Openat2(initial_.get(), path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  replaced_.insert(path);
  BAWN_CHECK_OK(sys::Fchmod(fd.get(), hidden.mode & 0777));
  return sys::Utimensat(initial_.get(), path, hidden.mtime_ns, AT_SYMLINK_NOFOLLOW);
}

Result<> InitialLayer::Finish() {
  for (auto parent = parents_.rbegin(); parent != parents_.rend(); ++parent) {
    Result<sys::FileStat> shown = sys::Fstatat(root_fd_, *parent);
    if (!shown || !shown->IsDir()) continue;  // gone meanwhile: the empty directory stays ours
    UniqueFd fd = BAWN_TRY(sys::OpenDir(initial_.get(), *parent, sys::kUntrusted));
    BAWN_CHECK_OK(sys::Fchmod(fd.get(), shown->mode & 0777));
    BAWN_CHECK_OK(sys::Utimensat(initial_.get(), *parent, shown->mtime_ns, AT_SYMLINK_NOFOLLOW));
  }
  return {};
}

}  // namespace bawn::workspace
