#include "publish/lfs_store.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "sys/files.h"

namespace bawn::publish {

Result<LfsStore> LfsStore::Open(git::Repo& repo, const std::string& common_dir,
                                const std::string& name) {
  std::string place = BAWN_TRY(repo.ConfigString("lfs.storage")).value_or("lfs");
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  if (place.starts_with(common_dir + "/")) place.erase(0, common_dir.size() + 1);
  UniqueFd common = BAWN_TRY(sys::OpenDir(AT_FDCWD, common_dir));
  Result<> made = Fail(ErrorCode::kInvalidArgument, "");
  if (!place.empty() && !place.starts_with('/')) {
    made = sys::MakeDirs(common.get(), place + "/objects", 0755);
  }
  Result<UniqueFd> objects = std::unexpected(Error());
  if (made) objects = sys::OpenDir(common.get(), place + "/objects", sys::kUntrusted);
  if (objects) return LfsStore(std::move(common), std::move(*objects), name + ".lfs");
  std::string why = made ? objects.error().message : made.error().message;
  if (place.starts_with('/')) why = "it lies outside the git directory";
  return Fail(ErrorCode::kFailedPrecondition,
              "the LFS store " + EscapeName(place) + " cannot be written from here: " + why,
              "apply the changes, then commit with your own git", "publish.lfs_store");
}

Result<> LfsStore::Add(std::string_view sha256, std::string_view bytes) const {
  BAWN_ASSERT(sha256.size() == 64);
  std::string name(sha256);
  std::string place = name.substr(0, 2) + "/" + name.substr(2, 2);
  BAWN_CHECK_OK(sys::MakeDirs(objects_.get(), place, 0755));
  UniqueFd dir = BAWN_TRY(sys::OpenDir(objects_.get(), place, sys::kUntrusted));
  Result<sys::FileStat> there = sys::Fstatat(dir.get(), name);
  if (there && there->IsRegular() && there->size == bytes.size()) return {};
  Result<> left = sys::Unlinkat(common_.get(), staging_);  // by a publish that was killed
  if (!left && left.error().sys_errno != ENOENT) return left;
  UniqueFd file = BAWN_TRY(
      sys::Openat2(common_.get(), staging_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  Result<> done = sys::WriteAll(file.get(), bytes);
  if (done) done = sys::Fsync(file.get());
  if (done) done = sys::Renameat2(common_.get(), staging_, dir.get(), name);
  if (done) return sys::Fsync(dir.get());
  (void)sys::Unlinkat(common_.get(), staging_);  // the first error is the one to report
  return done;
}

}  // namespace bawn::publish
