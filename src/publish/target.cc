#include "publish/target.h"

#include <cerrno>

#ifndef O_TMPFILE
#error "O_TMPFILE needs _GNU_SOURCE"
#endif

namespace bawn::publish {
namespace {

constexpr unsigned kNoReplace = 1;  // renameat2(2)
constexpr unsigned kExchange = 2;

}  // namespace

SplitPath Split(std::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

Result<Spot> Spot::Open(int root_fd, std::string_view path) {
  SplitPath parts = Split(path);
  BAWN_ASSERT(!parts.name.empty() && parts.name != "." && parts.name != "..");
  std::string parent = parts.parent.empty() ? "." : parts.parent;
  UniqueFd fd = BAWN_TRY(sys::Openat2(root_fd, parent, O_PATH | O_DIRECTORY, 0, sys::kUntrusted));
  return Spot{std::move(fd), std::move(parts.name)};
}

Result<std::optional<sys::FileStat>> Spot::Look() const {
  Result<sys::FileStat> st = sys::Fstatat(parent.get(), name);
  if (st) return std::optional<sys::FileStat>(*st);
  if (st.error().sys_errno == ENOENT) return std::optional<sys::FileStat>();
  return std::unexpected(std::move(st).error());
}

Result<> MoveToFreeName(const Spot& from, const Spot& to) {
  Result<> moved =
      sys::Renameat2(from.parent.get(), from.name, to.parent.get(), to.name, kNoReplace);
  if (moved || moved.error().sys_errno != EINVAL) return moved;
  BAWN_CHECK_OK(sys::Linkat(from.parent.get(), from.name, to.parent.get(), to.name));
  return sys::Unlinkat(from.parent.get(), from.name);
}

Result<> Exchange(const Spot& a, const Spot& b) {
  return sys::Renameat2(a.parent.get(), a.name, b.parent.get(), b.name, kExchange);
}

Result<NewFile> CreateNameless(const Spot& spot) {
  Result<UniqueFd> fd = sys::Openat2(spot.parent.get(), ".", O_RDWR | O_TMPFILE, 0600);
  if (fd) return NewFile{std::move(*fd), false};
  int why = fd.error().sys_errno;
  if (why != EOPNOTSUPP && why != EISDIR && why != EINVAL) {
    return std::unexpected(std::move(fd).error());
  }
  fd = sys::Openat2(spot.parent.get(), spot.name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!fd) return std::unexpected(std::move(fd).error());
  return NewFile{std::move(*fd), true};
}

Result<> GiveName(const NewFile& file, const Spot& spot) {
  if (file.named) return {};
  return sys::LinkFd(file.fd.get(), spot.parent.get(), spot.name);
}

}  // namespace bawn::publish
