// publish/lock.h
// One holder per target tree and per ref (RT-34), kept in the state directory: two sandboxes on one
// workspace are fine, two applies at once are not. Order, always: sandbox, tree, ref.
// A held flock is the lock; the file stays. Beside a tree's lock stands a note that names the
// journal last begun on that tree, so that any next command finds what a kill -9 cut short.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files.h"
#include "workspace/state.h"

namespace bawn::publish {

struct TreeNote {
  std::string sandbox;  // id
  std::string journal;  // directory name below its journal/
  // The one before: named again when this one is taken back before it did anything.
  std::string before_sandbox = {}, before_journal = {};
};

class TreeLock {
 public:
  // Waits up to `kLockWaitMs`, then kConflict.
  static Result<TreeLock> Take(const workspace::StateDir& state, int tree_fd);
  Result<std::optional<TreeNote>> ReadNote() const;
  Result<> WriteNote(const TreeNote& note) const;

 private:
  TreeLock(UniqueFd locks, UniqueFd lock, std::string name)
      : locks_(std::move(locks)), lock_(std::move(lock)), name_(std::move(name)) {}
  UniqueFd locks_;
  UniqueFd lock_;
  std::string name_;
};

inline constexpr int kLockWaitMs = 2000;

// `common_dir` and `ref` name the ref; held until the descriptor is closed.
Result<UniqueFd> LockRef(const workspace::StateDir& state, const std::string& common_dir,
                         const std::string& ref);

}  // namespace bawn::publish
