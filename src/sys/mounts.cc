#include "sys/mounts.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"

// <sys/mount.h> and <linux/mount.h> clash in glibc 2.36; the two calls needed are declared here.
extern "C" int mount(const char*, const char*, const char*, unsigned long, const void*);
extern "C" int umount2(const char*, int);

namespace bawn::sys {
namespace {
constexpr unsigned long kMsRec = 16384, kMsPrivate = 1UL << 18;  // uapi/linux/mount.h
constexpr int kMntDetach = 2;
}  // namespace

Result<FsBuilder> FsBuilder::Open(const char* fs_type) {
  long fd = syscall(SYS_fsopen, fs_type, FSOPEN_CLOEXEC);
  if (fd < 0) return FailErrno(errno, std::string("fsopen(") + fs_type + ")");
  return FsBuilder(UniqueFd(static_cast<int>(fd)));
}

Error FsBuilder::Failed(int sys_errno, const std::string& what) {
  Error error = FailErrno(sys_errno, what).error();
  std::array<char, 512> line = {};
  ssize_t size = read(fd_.get(), line.data(), line.size());
  if (size > 2)
    error.message += " (" + TerminalSafe({line.data() + 2, static_cast<size_t>(size) - 2}) + ")";
  return error;
}

Result<> FsBuilder::SetString(const char* key, const std::string& value) {
  if (syscall(SYS_fsconfig, fd_.get(), FSCONFIG_SET_STRING, key, value.c_str(), 0) < 0) {
    return std::unexpected(Failed(errno, std::string("fsconfig(") + key + "=" + value + ")"));
  }
  return {};
}

Result<> FsBuilder::SetFlag(const char* key) {
  if (syscall(SYS_fsconfig, fd_.get(), FSCONFIG_SET_FLAG, key, nullptr, 0) < 0) {
    return std::unexpected(Failed(errno, std::string("fsconfig(") + key + ")"));
  }
  return {};
}

Result<> FsBuilder::SetFd(const char* key, int fd) {
  if (syscall(SYS_fsconfig, fd_.get(), FSCONFIG_SET_FD, key, nullptr, fd) < 0) {
    return std::unexpected(Failed(errno, std::string("fsconfig(") + key + ", fd)"));
  }
  return {};
}

Result<UniqueFd> FsBuilder::Mount(uint64_t attributes) {
  if (syscall(SYS_fsconfig, fd_.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0) {
    return std::unexpected(Failed(errno, "fsconfig(CREATE)"));
  }
  long fd = syscall(SYS_fsmount, fd_.get(), FSMOUNT_CLOEXEC, attributes);
  if (fd < 0) return std::unexpected(Failed(errno, "fsmount"));
  return UniqueFd(static_cast<int>(fd));
}

Result<UniqueFd> CloneTree(int dirfd, std::string_view path, bool recursive) {
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
  if (recursive) flags |= AT_RECURSIVE;
  long fd = syscall(SYS_open_tree, dirfd, std::string(path).c_str(), flags);
  if (fd < 0) return FailErrno(errno, "open_tree(" + EscapeName(path) + ")");
  return UniqueFd(static_cast<int>(fd));
}

Result<> SetMountAttributes(int mount_fd, uint64_t set, bool recursive) {
  mount_attr attributes = {};
  attributes.attr_set = set;
  unsigned flags = AT_EMPTY_PATH | (recursive ? unsigned{AT_RECURSIVE} : 0U);
  if (syscall(SYS_mount_setattr, mount_fd, "", flags, &attributes, sizeof attributes) < 0) {
    return FailErrno(errno, "mount_setattr");
  }
  return {};
}

Result<> SetIdmap(int mount_fd, int userns_fd) {
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<uint64_t>(userns_fd);
  if (syscall(SYS_mount_setattr, mount_fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0) {
    return FailErrno(errno, "mount_setattr(IDMAP)");
  }
  return {};
}

Result<> MoveMount(int mount_fd, int dirfd, std::string_view path) {
  unsigned flags = MOVE_MOUNT_F_EMPTY_PATH;
  if (path.empty()) flags |= MOVE_MOUNT_T_EMPTY_PATH;
  if (syscall(SYS_move_mount, mount_fd, "", dirfd, std::string(path).c_str(), flags) < 0) {
    return FailErrno(errno, "move_mount(" + EscapeName(path) + ")");
  }
  return {};
}

Result<> MakeOpaque(int directory_fd) {
  if (fsetxattr(directory_fd, "user.overlay.opaque", "y", 1, 0) == 0) return {};
  return FailErrno(errno, "fsetxattr(user.overlay.opaque)");
}

Result<> MakeTreePrivate() {
  if (mount(nullptr, "/", nullptr, kMsRec | kMsPrivate, nullptr) < 0) {
    return FailErrno(errno, "mount(/, private)");
  }
  return {};
}

Result<> PivotRootHere() {
  if (syscall(SYS_pivot_root, ".", ".") < 0) return FailErrno(errno, "pivot_root");
  if (umount2(".", kMntDetach) < 0) return FailErrno(errno, "umount2(old root)");
  if (chdir("/") < 0) return FailErrno(errno, "chdir(/)");
  return {};
}

Result<> UmountDetach(std::string_view path) {
  if (umount2(std::string(path).c_str(), kMntDetach) < 0) {
    return FailErrno(errno, "umount2(" + EscapeName(path) + ")");
  }
  return {};
}

}  // namespace bawn::sys
