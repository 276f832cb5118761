// init/tree.h
// The new root: a sized tmpfs, built before it becomes "/". Every name below it is reached by
// descriptor, never through a symlink and never above it (openat2, RESOLVE_BENEATH | NO_SYMLINKS):
// an earlier mount may hold names that a payload chose (RT-05, O-13).
// Threads: one. Privilege: every capability in the sandbox's first user namespace.
// Decided in: policy/compile. Enforced by: openat2 and move_mount. Recorded as: "mounts".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::init {

class Tree {
 public:
  // Attaches the tmpfs somewhere in the old tree (which the outer /proc is hidden by from then on).
  // Mounts must be private already. `bytes` is room for file contents.
  static Result<Tree> Create(uint64_t bytes);

  int root() const { return root_.get(); }
  // An empty directory outside the view: the second lower that an overlay without upper needs.
  int empty() const { return empty_.get(); }

  Result<> MakeDir(std::string_view path, uint32_t mode);
  Result<> MakeSymlink(std::string_view path, const std::string& target);
  // `mtime_ns` 0: now.
  Result<> MakeFile(std::string_view path, std::string_view content, uint32_t mode,
                    int64_t mtime_ns);
  // Attaches a detached mount at `path`, whose parents and mount point are made when missing.
  Result<> Attach(int mount_fd, std::string_view path, bool directory);
  // Attaches a detached mount outside the view, where pivot_root leaves it behind: overlayfs takes
  // layers only from mounts of the mounter's own namespace (clone_private_mount in fs/namespace.c).
  Result<> AttachHidden(int mount_fd);
  const std::string& last_attached() const { return last_attached_; }  // so not hidden by another

 private:
  Tree(UniqueFd store, UniqueFd root, UniqueFd empty)
      : store_(std::move(store)), root_(std::move(root)), empty_(std::move(empty)) {}
  Result<int> Parent(std::string_view path, std::string* name);  // borrowed until the next call
  Result<UniqueFd> OpenOrMakeDir(std::string_view path);

  UniqueFd store_;  // the tmpfs: "root" is the view, "empty", and hidden mounts by number
  UniqueFd root_;
  UniqueFd empty_;
  int hidden_ = 0;
  std::string last_attached_;
  std::string parent_path_;  // of parent_; most ops share their parent with the one before
  UniqueFd parent_;
};

}  // namespace bawn::init
