#include "sys/files.h"

#include <dirent.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/ids.h"
#include "base/text.h"

namespace bawn::sys {
namespace {

#ifndef SYS_fchmodat2
constexpr long kFchmodat2 = 452;  // asm-generic/unistd.h, Linux 6.6
#else
constexpr long kFchmodat2 = SYS_fchmodat2;
#endif

constexpr size_t kReadChunk = 16384;

template <class F>
auto Retry(F call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

std::unexpected<Error> FailCall(const char* call, std::string_view path) {
  int saved = errno;
  return FailErrno(saved, std::string(call) + "(" + EscapeName(path) + ")");
}

Result<> Check(long result, const char* call, std::string_view path) {
  if (result < 0) return FailCall(call, path);
  return {};
}

std::string FdPath(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

FileStat Convert(const struct stat& st) {
  FileStat out;
  out.dev = st.st_dev;
  out.ino = st.st_ino;
  out.mode = st.st_mode;
  out.uid = st.st_uid;
  out.gid = st.st_gid;
  out.nlink = st.st_nlink;
  out.size = static_cast<uint64_t>(st.st_size);
  out.blocks = static_cast<uint64_t>(st.st_blocks);
  out.rdev = st.st_rdev;
  out.mtime_ns = int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec;
  out.ctime_ns = int64_t{st.st_ctim.tv_sec} * 1'000'000'000 + st.st_ctim.tv_nsec;
  return out;
}

}  // namespace

namespace {

// The descriptor, or -1 and errno.
int OpenRaw(int dirfd, std::string_view path, int flags, uint32_t mode, uint64_t resolve) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? mode : 0;
  how.resolve = resolve;
  std::string name(path);
  // EAGAIN: a racing rename during a RESOLVE_BENEATH walk (openat2(2)); bounded, then reported.
  long fd = -1;
  for (int attempt = 0; attempt < 64; ++attempt) {
    fd = Retry([&] { return syscall(SYS_openat2, dirfd, name.c_str(), &how, sizeof how); });
    if (fd >= 0 || errno != EAGAIN) break;
  }
  return static_cast<int>(fd);
}

}  // namespace

Result<UniqueFd> Openat2(int dirfd, std::string_view path, int flags, uint32_t mode,
                         uint64_t resolve) {
  const int fd = OpenRaw(dirfd, path, flags, mode, resolve);
  if (fd < 0) return FailCall("openat2", path);
  return UniqueFd(fd);
}

bool ExistsAt(int dirfd, std::string_view path, uint64_t resolve) {
  return UniqueFd(OpenRaw(dirfd, path, O_PATH | O_NOFOLLOW, 0, resolve)).valid();
}

Result<UniqueFd> OpenDir(int dirfd, std::string_view path, uint64_t resolve) {
  return Openat2(dirfd, path, O_RDONLY | O_DIRECTORY, 0, resolve);
}

Result<UniqueFd> Reopen(int fd, int flags) { return Openat2(AT_FDCWD, FdPath(fd), flags); }

Result<UniqueFd> Dup(int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return FailCall("fcntl(F_DUPFD_CLOEXEC)", std::to_string(fd));
  return UniqueFd(copy);
}

Result<FileStat> Fstat(int fd) {
  struct stat st = {};
  if (fstat(fd, &st) < 0) return FailCall("fstat", std::to_string(fd));
  return Convert(st);
}

Result<FileStat> Fstatat(int dirfd, std::string_view path, int flags) {
  struct stat st = {};
  if (fstatat(dirfd, std::string(path).c_str(), &st, flags) < 0) return FailCall("fstatat", path);
  return Convert(st);
}

std::optional<FileStat> FindStat(int dirfd, const char* path, int flags) {
  struct stat st = {};
  if (fstatat(dirfd, path, &st, flags) < 0) return std::nullopt;
  return Convert(st);
}

Result<std::string> Readlinkat(int dirfd, std::string_view path) {
  [[clang::uninitialized]] std::array<char, PATH_MAX + 1> buffer;
  ssize_t length = readlinkat(dirfd, std::string(path).c_str(), buffer.data(), buffer.size());
  if (length < 0) return FailCall("readlinkat", path);
  return std::string(buffer.data(), static_cast<size_t>(length));
}

Result<> Mkdirat(int dirfd, std::string_view path, uint32_t mode) {
  return Check(mkdirat(dirfd, std::string(path).c_str(), mode), "mkdirat", path);
}

Result<> Unlinkat(int dirfd, std::string_view path, int flags) {
  return Check(unlinkat(dirfd, std::string(path).c_str(), flags), "unlinkat", path);
}

Result<> Renameat2(int from_dirfd, std::string_view from, int to_dirfd, std::string_view to,
                   unsigned flags) {
  return Check(
      renameat2(from_dirfd, std::string(from).c_str(), to_dirfd, std::string(to).c_str(), flags),
      "renameat2", to);
}

Result<> Linkat(int from_dirfd, std::string_view from, int to_dirfd, std::string_view to,
                int flags) {
  return Check(
      linkat(from_dirfd, std::string(from).c_str(), to_dirfd, std::string(to).c_str(), flags),
      "linkat", to);
}

Result<> LinkFd(int fd, int to_dirfd, std::string_view to) {
  return Check(
      linkat(AT_FDCWD, FdPath(fd).c_str(), to_dirfd, std::string(to).c_str(), AT_SYMLINK_FOLLOW),
      "linkat", to);
}

Result<> Symlinkat(std::string_view target, int dirfd, std::string_view path) {
  return Check(symlinkat(std::string(target).c_str(), dirfd, std::string(path).c_str()),
               "symlinkat", path);
}

Result<> Mknodat(int dirfd, std::string_view path, uint32_t mode, uint64_t dev) {
  return Check(mknodat(dirfd, std::string(path).c_str(), mode, dev), "mknodat", path);
}

Result<> Fchmod(int fd, uint32_t mode) { return Check(fchmod(fd, mode), "fchmod", ""); }

Result<> FchmodPath(int fd, uint32_t mode) {
  long result = syscall(kFchmodat2, fd, "", mode, AT_EMPTY_PATH);
  if (result < 0 && (errno == ENOSYS || errno == EINVAL)) result = chmod(FdPath(fd).c_str(), mode);
  return Check(result, "fchmodat2", "");
}

Result<> Fchown(int fd, uint32_t uid, uint32_t gid) {
  return Check(fchownat(fd, "", uid, gid, AT_EMPTY_PATH), "fchownat", "");
}

Result<> Fchownat(int dirfd, std::string_view path, uint32_t uid, uint32_t gid, int flags) {
  return Check(fchownat(dirfd, std::string(path).c_str(), uid, gid, flags), "fchownat", path);
}

Result<> Utimensat(int dirfd, std::string_view path, int64_t mtime_ns, int flags) {
  timespec times[2] = {{0, UTIME_OMIT},
                       {mtime_ns / 1'000'000'000, static_cast<long>(mtime_ns % 1'000'000'000)}};
  return Check(utimensat(dirfd, std::string(path).c_str(), times, flags), "utimensat", path);
}

Result<> Ftruncate(int fd, uint64_t size) {
  return Check(Retry([&] { return ftruncate(fd, static_cast<off_t>(size)); }), "ftruncate", "");
}
Result<> Fsync(int fd) {
  return Check(Retry([&] { return fsync(fd); }), "fsync", "");
}
void StartWriting(int fd) { (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); }
Result<> Syncfs(int fd) {
  return Check(Retry([&] { return syncfs(fd); }), "syncfs", "");
}

Result<> Flock(int fd, LockKind kind) {
  int operation = kind == LockKind::kShared ? LOCK_SH : LOCK_EX;
  if (kind == LockKind::kExclusiveNonBlocking) operation |= LOCK_NB;
  if (Retry([&] { return flock(fd, operation); }) == 0) return {};
  if (errno == EWOULDBLOCK) return Fail(ErrorCode::kConflict, "flock: held by another process");
  return FailCall("flock", "");
}

Result<std::string> Fgetxattr(int fd, const std::string& name) {
  [[clang::uninitialized]] std::array<char, 4096> buffer;
  ssize_t length = fgetxattr(fd, name.c_str(), buffer.data(), buffer.size());
  if (length < 0) return FailCall("fgetxattr", name);
  return std::string(buffer.data(), static_cast<size_t>(length));
}

bool HasXattr(int fd, const char* name, std::string_view value) {
  [[clang::uninitialized]] std::array<char, 256> buffer;
  ssize_t length = fgetxattr(fd, name, buffer.data(), buffer.size());
  return length >= 0 && std::string_view(buffer.data(), static_cast<size_t>(length)) == value;
}

Result<std::string> Lgetxattrat(int dirfd, std::string_view path, const std::string& name) {
  [[clang::uninitialized]] std::array<char, 4096> buffer;
  std::string full = FdPath(dirfd) + "/" + std::string(path);
  ssize_t length = lgetxattr(full.c_str(), name.c_str(), buffer.data(), buffer.size());
  if (length < 0) return FailCall("lgetxattr", path);
  return std::string(buffer.data(), static_cast<size_t>(length));
}

Result<> Lsetxattrat(int dirfd, std::string_view path, const std::string& name,
                     std::string_view value) {
  std::string full = FdPath(dirfd) + "/" + std::string(path);
  return Check(lsetxattr(full.c_str(), name.c_str(), value.data(), value.size(), 0), "lsetxattr",
               path);
}

Result<std::vector<DirEntry>> ListDir(int dirfd, size_t entries_max) {
  UniqueFd own;
  if (lseek(dirfd, 0, SEEK_SET) < 0) {  // O_PATH
    own = BAWN_TRY(Openat2(dirfd, ".", O_RDONLY | O_DIRECTORY));
    dirfd = own.get();
  }
  std::vector<DirEntry> entries;
  [[clang::uninitialized]] alignas(8) std::array<char, 32768> buffer;  // zeroing costs as much
  while (true) {
    long size = Retry([&] { return syscall(SYS_getdents64, dirfd, buffer.data(), buffer.size()); });
    if (size < 0) return FailCall("getdents64", "");
    if (size == 0) return entries;
    for (long at = 0; at < size;) {
      // struct linux_dirent64 (getdents64(2)): u64 ino, s64 off, u16 reclen, u8 type, name.
      uint64_t ino = 0;
      uint16_t record_length = 0;
      std::memcpy(&ino, buffer.data() + at, sizeof ino);
      std::memcpy(&record_length, buffer.data() + at + 16, sizeof record_length);
      const char* name = buffer.data() + at + 19;
      auto type = static_cast<unsigned char>(buffer[static_cast<size_t>(at) + 18]);
      at += record_length;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      if (entries.size() >= entries_max) {
        return Fail(ErrorCode::kResourceExhausted,
                    "directory with more than " + std::to_string(entries_max) + " entries");
      }
      entries.push_back({name, type, ino});
    }
  }
}

Result<size_t> Read(int fd, char* into, size_t size) {
  ssize_t got = Retry([&] { return read(fd, into, size); });
  if (got < 0) return FailCall("read", "");
  return static_cast<size_t>(got);
}

Result<size_t> Pread(int fd, char* into, size_t size, uint64_t offset) {
  ssize_t got = Retry([&] { return pread(fd, into, size, static_cast<off_t>(offset)); });
  if (got < 0) return FailCall("pread", "");
  return static_cast<size_t>(got);
}

Result<std::string> ReadAll(int fd, size_t bytes_max) {
  std::string bytes;
  struct stat st = {};
  // A regular file is asked for one byte more than it has: less means its end, in one call. Files
  // of /proc say 0, and what is no regular file has no size.
  bool sized = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
  size_t room = sized ? std::min(bytes_max, static_cast<size_t>(st.st_size)) + 1 : kReadChunk;
  while (true) {
    size_t used = bytes.size();
    ssize_t got = 0;
    bytes.resize_and_overwrite(used + room, [&](char* data, size_t) {
      got = Retry([&] { return read(fd, data + used, room); });
      return used + (got < 0 ? 0 : static_cast<size_t>(got));
    });
    if (got < 0) return FailCall("read", "");
    if (bytes.size() > bytes_max) {
      return Fail(ErrorCode::kResourceExhausted,
                  "more than the limit of " + std::to_string(bytes_max) + " bytes");
    }
    if (got == 0 || (sized && static_cast<size_t>(got) < room)) return bytes;
    room = kReadChunk;
  }
}

Result<std::string> ReadFileAt(int dirfd, std::string_view path, size_t bytes_max,
                               uint64_t resolve) {
  UniqueFd fd = BAWN_TRY(Openat2(dirfd, path, O_RDONLY | O_NONBLOCK, 0, resolve));
  Result<std::string> bytes = ReadAll(fd.get(), bytes_max);
  if (!bytes) return std::unexpected(WithContext(bytes.error(), EscapeName(path)));
  return bytes;
}

Result<> WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t done = Retry([&] { return write(fd, bytes.data(), bytes.size()); });
    if (done < 0) return FailCall("write", "");
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return {};
}

Result<> Pwrite(int fd, std::string_view bytes, uint64_t offset) {
  while (!bytes.empty()) {
    ssize_t done =
        Retry([&] { return pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (done < 0) return FailCall("pwrite", "");
    bytes.remove_prefix(static_cast<size_t>(done));
    offset += static_cast<uint64_t>(done);
  }
  return {};
}

Result<> WriteFileAtomic(int dirfd, std::string_view name, std::string_view bytes, uint32_t mode,
                         bool durable) {
  std::string temporary = NewId(".tmp_");
  UniqueFd fd = BAWN_TRY(Openat2(dirfd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  Result<> done = WriteAll(fd.get(), bytes);
  if (done && durable) done = Fsync(fd.get());
  if (done) done = Renameat2(dirfd, temporary, dirfd, name);
  if (!done) {
    (void)Unlinkat(dirfd, temporary);  // the first error is the one to report
    return done;
  }
  if (durable) BAWN_CHECK_OK(Fsync(dirfd));
  return {};
}

Result<CopyHow> CopyContents(int from_fd, int to_fd) {
  if (ioctl(to_fd, FICLONE, from_fd) == 0) return CopyHow::kReflink;
  bool any = false;
  while (true) {
    ssize_t done = Retry(
        [&] { return copy_file_range(from_fd, nullptr, to_fd, nullptr, size_t{1} << 30, 0); });
    if (done == 0) return CopyHow::kCopied;
    if (done < 0) {
      if (!any && (errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOSYS))
        break;
      return FailCall("copy_file_range", "");
    }
    any = true;
  }
  std::string buffer(1 << 16, '\0');
  while (true) {
    size_t got = BAWN_TRY(Read(from_fd, buffer.data(), buffer.size()));
    if (got == 0) return CopyHow::kCopied;
    BAWN_CHECK_OK(WriteAll(to_fd, std::string_view(buffer.data(), got)));
  }
}

Result<> MakeDirs(int dirfd, std::string_view path, uint32_t mode) {
  for (size_t at = 0; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    std::string_view part = path.substr(0, at);
    if (part.empty() || part.back() == '/') continue;
    Result<> made = Mkdirat(dirfd, part, mode);
    if (!made && made.error().sys_errno != EEXIST) return made;
  }
  return {};
}

Result<FsInfo> Fstatfs(int fd) {
  struct statfs st = {};
  if (fstatfs(fd, &st) < 0) return FailCall("fstatfs", "");
  return FsInfo{static_cast<uint64_t>(st.f_type),
                static_cast<uint64_t>(st.f_bavail) * static_cast<uint64_t>(st.f_bsize),
                static_cast<uint64_t>(st.f_ffree)};
}

}  // namespace bawn::sys
