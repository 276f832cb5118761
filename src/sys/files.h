// sys/files.h
// One wrapper per file system call, in the man page's argument order, returning Result; and the few
// compositions that every room needs (read all, write all, replace atomically).
// Descriptors are made close-on-exec. EINTR is retried here. `path` text may hold any byte but NUL.
// Threads: no shared state. Sources: openat2(2), statx(2), renameat2(2), path_resolution(7).
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::sys {

struct FileStat {
  uint64_t dev = 0;
  uint64_t ino = 0;
  uint32_t mode = 0;  // type and permission bits
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t nlink = 0;
  uint64_t size = 0;
  uint64_t blocks = 0;  // of 512 bytes
  uint64_t rdev = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;

  bool IsDir() const { return (mode & S_IFMT) == S_IFDIR; }
  bool IsRegular() const { return (mode & S_IFMT) == S_IFREG; }
  bool IsSymlink() const { return (mode & S_IFMT) == S_IFLNK; }
  // The overlay's mark for "deleted": a character device 0:0.
  bool IsWhiteout() const { return (mode & S_IFMT) == S_IFCHR && rdev == 0; }
};

// openat2(2) resolve flags by name, so that no other room needs <linux/openat2.h>.
enum Resolve : uint64_t {
  kResolveNone = 0,
  kNoXdev = 0x01,
  kNoMagiclinks = 0x02,
  kNoSymlinks = 0x04,
  kBeneath = 0x08,
};
// What every open below a tree that a payload can write must use (O-13).
inline constexpr uint64_t kUntrusted = kBeneath | kNoSymlinks | kNoMagiclinks;

Result<UniqueFd> Openat2(int dirfd, std::string_view path, int flags, uint32_t mode = 0,
                         uint64_t resolve = kResolveNone);
Result<UniqueFd> OpenDir(int dirfd, std::string_view path, uint64_t resolve = kResolveNone);
Result<UniqueFd> Reopen(int fd, int flags);  // through /proc/self/fd: for O_PATH descriptors
Result<UniqueFd> Dup(int fd);                // F_DUPFD_CLOEXEC, never below 3

Result<FileStat> Fstat(int fd);
Result<FileStat> Fstatat(int dirfd, std::string_view path, int flags = AT_SYMLINK_NOFOLLOW);
// The same for who asks about many names that are mostly missing: no reason is put together.
std::optional<FileStat> FindStat(int dirfd, const char* path, int flags = AT_SYMLINK_NOFOLLOW);
// Whether anything has that name, a symlink included; false for whatever cannot be looked at. Far
// cheaper than an error where most names are absent.
bool ExistsAt(int dirfd, std::string_view path, uint64_t resolve);
Result<std::string> Readlinkat(int dirfd, std::string_view path);

Result<> Mkdirat(int dirfd, std::string_view path, uint32_t mode);
Result<> Unlinkat(int dirfd, std::string_view path, int flags = 0);
Result<> Renameat2(int from_dirfd, std::string_view from, int to_dirfd, std::string_view to,
                   unsigned flags = 0);
Result<> Linkat(int from_dirfd, std::string_view from, int to_dirfd, std::string_view to,
                int flags = 0);
Result<> LinkFd(int fd, int to_dirfd, std::string_view to);  // gives an O_TMPFILE a name
Result<> Symlinkat(std::string_view target, int dirfd, std::string_view path);
Result<> Mknodat(int dirfd, std::string_view path, uint32_t mode, uint64_t dev);
Result<> Fchmod(int fd, uint32_t mode);      // real descriptors
Result<> FchmodPath(int fd, uint32_t mode);  // O_PATH descriptors too (fchmodat2, else /proc)
Result<> Fchown(int fd, uint32_t uid, uint32_t gid);
Result<> Fchownat(int dirfd, std::string_view path, uint32_t uid, uint32_t gid, int flags);
Result<> Utimensat(int dirfd, std::string_view path, int64_t mtime_ns, int flags);
Result<> Ftruncate(int fd, uint64_t size);
Result<> Fsync(int fd);
// Starts to write a file back without waiting; a hint, so a failure says nothing.
void StartWriting(int fd);
Result<> Syncfs(int fd);

// flock(2). kNonBlocking gives kConflict when another holder has it.
enum class LockKind { kShared, kExclusive, kExclusiveNonBlocking };
Result<> Flock(int fd, LockKind kind);

Result<std::string> Fgetxattr(int fd, const std::string& name);
// Whether it has exactly that value; false where it has none.
bool HasXattr(int fd, const char* name, std::string_view value);
// By path below a directory, last component not followed (through /proc/self/fd/N/NAME).
Result<std::string> Lgetxattrat(int dirfd, std::string_view path, const std::string& name);
Result<> Lsetxattrat(int dirfd, std::string_view path, const std::string& name,
                     std::string_view value);

struct DirEntry {
  std::string name;
  unsigned char type = 0;  // DT_*; DT_UNKNOWN is possible
  uint64_t ino = 0;
};
// All entries but "." and ".." of a directory descriptor (whose offset is used; with O_PATH it is
// opened for reading), from its start; at most
// `entries_max`, more is kResourceExhausted. Order is the file system's.
Result<std::vector<DirEntry>> ListDir(int dirfd, size_t entries_max = 10'000'000);

// The rest of a descriptor, at most `bytes_max`: one byte more is kResourceExhausted.
Result<std::string> ReadAll(int fd, size_t bytes_max);
Result<std::string> ReadFileAt(int dirfd, std::string_view path, size_t bytes_max,
                               uint64_t resolve = kResolveNone);
Result<> WriteAll(int fd, std::string_view bytes);
Result<> Pwrite(int fd, std::string_view bytes, uint64_t offset);
Result<size_t> Pread(int fd, char* into, size_t size, uint64_t offset);
Result<size_t> Read(int fd, char* into, size_t size);  // EAGAIN is an error with that errno

// Writes NAME in `dirfd` by a temporary sibling and rename: readers see old or new. `durable` adds
// fsync of file and directory (bytes before metadata).
Result<> WriteFileAtomic(int dirfd, std::string_view name, std::string_view bytes, uint32_t mode,
                         bool durable);

// Reflink where the file system can (FICLONE), else copy_file_range, else read and write.
enum class CopyHow { kReflink, kCopied };
Result<CopyHow> CopyContents(int from_fd, int to_fd);

// mkdir -p below `dirfd` for a relative path.
Result<> MakeDirs(int dirfd, std::string_view path, uint32_t mode);

struct FsInfo {
  uint64_t type = 0;  // statfs f_type
  uint64_t free_bytes = 0;
  uint64_t free_inodes = 0;
};
Result<FsInfo> Fstatfs(int fd);

}  // namespace bawn::sys
