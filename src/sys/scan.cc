#include "sys/scan.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace bawn::sys {
namespace {

// The records of one getdents64(2) buffer: u64 ino, s64 off, u16 reclen, u8 type, name.
bool VisitRecords(const char* data, long size, VisitEntry visit, void* context) {
  for (long at = 0; at < size;) {
    uint16_t length = 0;
    std::memcpy(&length, data + at + 16, sizeof length);
    SeenEntry entry{std::string_view(data + at + 19), static_cast<unsigned char>(data[at + 18])};
    at += length;
    if (entry.name == "." || entry.name == "..") continue;
    if (!visit(context, entry)) return false;
  }
  return true;
}

}  // namespace

Result<> VisitDir(int dirfd, VisitEntry visit, void* context) {
  [[clang::uninitialized]] alignas(8) std::array<char, 8192> buffer;
  while (true) {
    long size = syscall(SYS_getdents64, dirfd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FailErrno(errno, "getdents64");
    if (size == 0 || !VisitRecords(buffer.data(), size, visit, context)) return {};
  }
}

Result<std::vector<std::string>> XattrNames(int fd) {
  std::string buffer(65536, '\0');  // XATTR_LIST_MAX
  ssize_t size = flistxattr(fd, buffer.data(), buffer.size());
  if (size < 0 && (errno == ENOTSUP || errno == ENOSYS)) return std::vector<std::string>{};
  if (size < 0) return FailErrno(errno, "flistxattr");
  buffer.resize(static_cast<size_t>(size));
  std::vector<std::string> names;
  for (size_t at = 0; at < buffer.size();) {
    names.emplace_back(buffer.c_str() + at);
    at += names.back().size() + 1;
  }
  return names;
}

bool IsCaseFolded(int dirfd) {
  int flags = 0;
  return ioctl(dirfd, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL) != 0;
}

}  // namespace bawn::sys
