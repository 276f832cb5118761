#include "git/index_update.h"

#include <fcntl.h>

#include <cerrno>

#include "base/text.h"
#include "git/impl.h"
#include "sys/files.h"

namespace bawn::git {
namespace {

using IndexHandle = Handle<git_index, git_index_free>;

constexpr char kIndex[] = "index";
constexpr char kLock[] = "index.lock";

std::string LockName(const std::string& name) { return name + ".lock"; }

// A copy of the index, or nothing where there is none (nothing was ever added). Its time is that of
// the original: step 2 tells by it whether the original moved.
Result<> CopyIndex(int dir_fd, const std::string& name) {
  for (const std::string& left : {name, LockName(name)}) {
    Result<> gone = sys::Unlinkat(dir_fd, left);
    if (!gone && gone.error().sys_errno != ENOENT) return gone;
  }
  Result<UniqueFd> from = sys::Openat2(dir_fd, kIndex, O_RDONLY | O_NOFOLLOW);
  if (!from && from.error().sys_errno == ENOENT) return {};
  if (!from) return std::unexpected(std::move(from).error());
  UniqueFd to = BAWN_TRY(sys::Openat2(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL, 0600));
  BAWN_CHECK_OK(sys::CopyContents(from->get(), to.get()));
  return {};
}

Result<> Check(git_index* index, const IndexChange& change) {
  bool conflicted = false;
  for (int stage = 1; stage <= 3; ++stage) {
    conflicted = conflicted || git_index_get_bypath(index, change.path.c_str(), stage) != nullptr;
  }
  const git_index_entry* entry = git_index_get_bypath(index, change.path.c_str(), 0);
  bool as_expected = change.expected
                         ? entry != nullptr && OidText(entry->id) == change.expected->oid &&
                               entry->mode == static_cast<uint32_t>(change.expected->mode)
                         : entry == nullptr;
  bool hidden = entry != nullptr && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) != 0;
  if (as_expected && !conflicted && !hidden) return {};
  return Fail(ErrorCode::kFailedPrecondition,
              EscapeName(change.path) +
                  (conflicted ? " is in the middle of a merge" : " is staged differently"),
              "commit or unstage it first, or publish to a branch and merge that",
              "git.index_staged");
}

Result<> Change(git_index* index, const IndexChange& change) {
  if (change.oid.empty()) {
    int code = git_index_remove(index, change.path.c_str(), 0);
    if (code < 0 && code != GIT_ENOTFOUND) return FailGit(code, "remove from the index");
    return {};
  }
  git_index_entry entry = {};
  entry.mode = static_cast<uint32_t>(change.mode);
  entry.id = BAWN_TRY(ParseOid(change.oid));
  entry.path = change.path.c_str();
  int code = git_index_add(index, &entry);
  if (code < 0) return FailGit(code, "add to the index");
  return {};
}

Result<bool> IsOurs(int dir_fd, uint64_t inode) {
  Result<sys::FileStat> lock = sys::Fstatat(dir_fd, kLock);
  if (!lock && lock.error().sys_errno == ENOENT) return false;
  if (!lock) return std::unexpected(std::move(lock).error());
  return lock->ino == inode;
}

Result<> RemoveName(int dir_fd, const std::string& name) {
  Result<> gone = sys::Unlinkat(dir_fd, name);
  if (!gone && gone.error().sys_errno != ENOENT) return gone;
  return {};
}

}  // namespace

Result<uint64_t> PrepareIndex(const std::string& git_dir, const std::string& name,
                              const std::vector<IndexChange>& changes) {
  UniqueFd dir = BAWN_TRY(sys::OpenDir(AT_FDCWD, git_dir));
  Result<sys::FileStat> original = sys::Fstatat(dir.get(), kIndex);
  BAWN_CHECK_OK(CopyIndex(dir.get(), name));
  git_index* opened = nullptr;
  int code = git_index_open(&opened, (git_dir + "/" + name).c_str());
  if (code < 0) {
    auto failed = FailGit(code, "read the index (split and sparse ones cannot be written)");
    failed.error().hint = "publish to a branch, then: git merge --ff-only BRANCH";
    return failed;
  }
  IndexHandle index(opened);
  for (const IndexChange& change : changes) BAWN_CHECK_OK(Check(index.get(), change));
  for (const IndexChange& change : changes) BAWN_CHECK_OK(Change(index.get(), change));
  code = git_index_write(index.get());
  if (code < 0) return FailGit(code, "write the new index");
  UniqueFd written = BAWN_TRY(sys::Openat2(dir.get(), name, O_RDONLY | O_NOFOLLOW));
  if (original) {  // permissions as the user had them; its time is what LockIndex compares
    BAWN_CHECK_OK(sys::Fchmod(written.get(), original->mode & 0777));
    BAWN_CHECK_OK(sys::Utimensat(dir.get(), name, original->mtime_ns, AT_SYMLINK_NOFOLLOW));
  }
  BAWN_CHECK_OK(sys::Fsync(written.get()));
  return BAWN_TRY(sys::Fstat(written.get())).ino;
}

Result<> LockIndex(const std::string& git_dir, const std::string& name) {
  UniqueFd dir = BAWN_TRY(sys::OpenDir(AT_FDCWD, git_dir));
  Result<> linked = sys::Linkat(dir.get(), name, dir.get(), kLock);
  if (!linked && linked.error().sys_errno == EEXIST) {
    return Fail(ErrorCode::kConflict, "index.lock exists: git is at work in this repository",
                "wait for it, then repeat; git says itself what to do with one left by a crash",
                "git.index_locked");
  }
  if (!linked) return linked;
  Result<sys::FileStat> now = sys::Fstatat(dir.get(), kIndex);
  sys::FileStat ours = BAWN_TRY(sys::Fstatat(dir.get(), name));
  if (!now || now->mtime_ns == ours.mtime_ns) return {};
  BAWN_CHECK_OK(sys::Unlinkat(dir.get(), kLock));
  return Fail(ErrorCode::kConflict, "git wrote the index just now", "repeat the command",
              "git.index_moved");
}

Result<> FinishIndex(const std::string& git_dir, const std::string& name, uint64_t inode) {
  UniqueFd dir = BAWN_TRY(sys::OpenDir(AT_FDCWD, git_dir));
  if (BAWN_TRY(IsOurs(dir.get(), inode))) {
    // The time of the old index stays: git mistrusts entries that are not older than their index,
    // and those of the user that were such must stay so ("racy git").
    BAWN_CHECK_OK(sys::Renameat2(dir.get(), kLock, dir.get(), kIndex));
  }
  return RemoveName(dir.get(), name);
}

Result<> AbandonIndex(const std::string& git_dir, const std::string& name, uint64_t inode) {
  UniqueFd dir = BAWN_TRY(sys::OpenDir(AT_FDCWD, git_dir));
  if (BAWN_TRY(IsOurs(dir.get(), inode))) BAWN_CHECK_OK(sys::Unlinkat(dir.get(), kLock));
  BAWN_CHECK_OK(RemoveName(dir.get(), LockName(name)));
  return RemoveName(dir.get(), name);
}

}  // namespace bawn::git
