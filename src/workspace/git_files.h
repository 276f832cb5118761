// workspace/git_files.h
// Where the files of a private git directory are put: on disk, in a lower layer that the changes
// can be mounted on again; or, where the changes are held in memory, by pid 1 into these, since
// nothing of an ephemeral run outlives it and an inode on disk costs more than all else of such a
// file. Errors: the system's. Threads: one.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace bawn::workspace {

class GitFiles {
 public:
  // `dirfd`: the directory on disk, or with `ops` none. `shown_at`: the directory in the view. All
  // borrowed.
  GitFiles(int dirfd, std::string shown_at, std::vector<plan::Op>* ops)
      : dirfd_(dirfd), shown_at_(std::move(shown_at)), ops_(ops) {}
  explicit GitFiles(int dirfd) : GitFiles(dirfd, {}, nullptr) {}

  Result<> MakeDirs(const std::string& path);  // with parents; no error where one is there
  Result<> Write(const std::string& path, std::string_view bytes, int64_t mtime_ns = 0);  // 0644
  // A copy of `name` in `from`, with its modification time, by which git knows what changed since.
  // Only in a Plan. No error where there is none; larger than `bytes_max` is an error.
  Result<> CopyWithTime(int from, const std::string& name, size_t bytes_max);
  bool in_plan() const { return ops_ != nullptr; }
  int dirfd() const { return dirfd_; }

 private:
  int dirfd_;
  std::string shown_at_;
  std::vector<plan::Op>* ops_;
};

}  // namespace bawn::workspace
