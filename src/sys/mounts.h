// sys/mounts.h
// The mount API by descriptor (fsopen, open_tree, move_mount, mount_setattr) and pivot_root.
// Nothing is ever mounted in the host's namespace: trees are made detached and attached only inside
// a sandbox's own mount namespace, so a mount's owner is a descriptor and death cleans up.
// Sources: fsopen(2) in the kernel's uapi/linux/mount.h, mount_setattr(2), pivot_root(2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::sys {

enum MountAttr : uint64_t {
  kReadOnly = 0x1,
  kNoSuid = 0x2,
  kNoDev = 0x4,
  kNoExec = 0x8,
};

// fsopen + fsconfig + fsmount: a detached mount.
class FsBuilder {
 public:
  static Result<FsBuilder> Open(const char* fs_type);
  Result<> SetString(const char* key, const std::string& value);
  Result<> SetFlag(const char* key);
  Result<> SetFd(const char* key, int fd);
  Result<UniqueFd> Mount(uint64_t attributes);  // the detached mount's descriptor

 private:
  explicit FsBuilder(UniqueFd fd) : fd_(std::move(fd)) {}
  Error Failed(int sys_errno, const std::string& what);  // adds the kernel's own log lines
  UniqueFd fd_;
};

// open_tree(OPEN_TREE_CLONE): a detached copy of what is mounted at dirfd/path.
Result<UniqueFd> CloneTree(int dirfd, std::string_view path, bool recursive);
Result<> SetMountAttributes(int mount_fd, uint64_t set, bool recursive);
// Read-only or id-mapped attributes; `userns_fd` gives MOUNT_ATTR_IDMAP.
Result<> SetIdmap(int mount_fd, int userns_fd);
// Attaches a detached mount at dirfd/path (path "" with an O_PATH descriptor attaches on it).
Result<> MoveMount(int mount_fd, int dirfd, std::string_view path);
// An overlay shows nothing of its lower layers in this directory of the upper one (overlayfs.rst,
// "whiteouts and opaque directories"; with userxattr).
Result<> MakeOpaque(int directory_fd);
Result<> MakeTreePrivate();  // mount(NULL, "/", MS_REC|MS_PRIVATE)
Result<> PivotRootHere();    // pivot_root(".", ".") and detaches the old root
Result<> UmountDetach(std::string_view path);

}  // namespace bawn::sys
