#include "sys/scan.h"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace bawn::sys {
namespace {

// Appends the records of one getdents64(2) buffer: u64 ino, s64 off, u16 reclen, u8 type, name.
// False when there were more than fit.
bool TakeRecords(const char* data, long size, size_t entries_max, std::vector<DirEntry>* entries) {
  for (long at = 0; at < size;) {
    DirEntry entry;
    uint16_t length = 0;
    std::memcpy(&entry.ino, data + at, sizeof entry.ino);
    std::memcpy(&length, data + at + 16, sizeof length);
    entry.type = static_cast<unsigned char>(data[at + 18]);
    std::string_view name(data + at + 19);
    at += length;
    if (name == "." || name == "..") continue;
    if (entries->size() >= entries_max) return false;
    entry.name = name;
    entries->push_back(std::move(entry));
  }
  return true;
}

}  // namespace

Result<std::vector<DirEntry>> ListSome(int dirfd, size_t entries_max, bool* complete) {
  UniqueFd own = BAWN_TRY(Openat2(dirfd, ".", O_RDONLY | O_DIRECTORY));
  std::vector<DirEntry> entries;
  alignas(8) std::array<char, 32768> buffer;
  *complete = true;
  while (*complete) {
    long size = syscall(SYS_getdents64, own.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FailErrno(errno, "getdents64");
    if (size == 0) break;
    *complete = TakeRecords(buffer.data(), size, entries_max, &entries);
  }
  return entries;
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
