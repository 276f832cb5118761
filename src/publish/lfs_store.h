// publish/lfs_store.h
// Where Git LFS keeps the content of the pointers that a commit holds (RT-08): a file named by its
// SHA-256 below `lfs/objects` of the trusted repository, as `git add` with git-lfs would leave it.
// `git lfs push` finds it there; no program of LFS is run here.
// Source: the LFS specification, git-lfs-config(5) on lfs.storage.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "git/repo.h"

namespace bawn::publish {

class LfsStore {
 public:
  // kFailedPrecondition when lfs.storage names a place outside the git directory: it could not be
  // written from here.
  // `name` is that of the sandbox in the git directory: what a kill leaves there is found by it
  // (workspace/remove.h).
  static Result<LfsStore> Open(git::Repo& repo, const std::string& common_dir,
                               const std::string& name);
  // Synced, then named; nothing where the object is there already.
  Result<> Add(std::string_view sha256, std::string_view bytes) const;

 private:
  LfsStore(UniqueFd common, UniqueFd objects, std::string staging)
      : common_(std::move(common)), objects_(std::move(objects)), staging_(std::move(staging)) {}
  UniqueFd common_, objects_;
  std::string staging_;  // a file of common_
};

}  // namespace bawn::publish
