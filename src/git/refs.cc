// git/refs.cc
// Refs are read, and moved by compare-and-swap only.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "git/impl.h"
#include "git/repo.h"
#include "sys/files.h"

namespace bawn::git {
namespace {

// The user's git may hold the ref's lock for a moment (core.filesRefLockTimeout waits 100 ms too).
constexpr int kLockTries = 20;
constexpr long kLockWaitNs = 10'000'000;
constexpr size_t kLockBytesMax = 4096;

// libgit2 1.5 reports only one of the two directions with a code of its own.
bool BlockedByAnotherRef(git_repository* repository, const std::string& name) {
  git_oid oid;
  for (size_t slash = name.rfind('/'); slash > 5; slash = name.rfind('/', slash - 1)) {
    const std::string above = name.substr(0, slash);
    if (git_reference_name_to_id(&oid, repository, above.c_str()) == 0) return true;
  }
  git_reference_iterator* iterator = nullptr;
  if (git_reference_iterator_new(&iterator, repository) < 0) return false;
  const Handle<git_reference_iterator, git_reference_iterator_free> owner(iterator);
  const char* below = nullptr;
  while (git_reference_next_name(&below, iterator) == 0) {
    if (std::string_view(below).starts_with(name + "/")) return true;
  }
  return false;
}

std::unexpected<Error> Lost(bool blocked, const std::string& name, const Oid& expected) {
  if (blocked) {
    return Fail(ErrorCode::kConflict,
                name + ": a ref above or below this name exists (\"a\" and \"a/b\" cannot both)",
                "choose another branch name", "git.ref_directory");
  }
  if (expected == kZeroOid) {
    return Fail(ErrorCode::kConflict, name + " exists already", "choose another branch name",
                "git.ref_exists");
  }
  return Fail(ErrorCode::kConflict, name + " is no longer at " + expected,
              "somebody moved it; look at it and publish again", "git.ref_moved");
}

}  // namespace

Result<std::optional<Oid>> Repo::ReadRef(const std::string& name) {
  git_oid oid;
  const int code = git_reference_name_to_id(&oid, impl_->repository.get(), name.c_str());
  if (code == GIT_ENOTFOUND) return std::nullopt;
  if (code < 0) return FailGit(code, "read " + name);
  return OidText(oid);
}

Result<> Repo::CompareAndSwapRef(const std::string& name, const Oid& expected, const Oid& target,
                                 std::string_view log_message) {
  BAWN_ASSERT(!expected.empty());
  int valid = 0;
  if (git_reference_name_is_valid(&valid, name.c_str()) < 0 || valid == 0 ||
      !name.starts_with("refs/")) {
    return Fail(ErrorCode::kInvalidArgument, "not a ref name: " + name);
  }
  const git_oid from = BAWN_TRY(ParseOid(expected));
  const git_oid to = BAWN_TRY(ParseOid(target));
  const std::string log(log_message);
  int code = 0;
  for (int i = 0; i < kLockTries; ++i) {
    git_reference* moved = nullptr;
    code = git_reference_create_matching(&moved, impl_->repository.get(), name.c_str(), &to,
                                         /*force=*/1, &from, log.c_str());
    git_reference_free(moved);
    if (code != GIT_ELOCKED) break;
    const timespec wait{.tv_sec = 0, .tv_nsec = kLockWaitNs};
    nanosleep(&wait, nullptr);
  }
  // libgit2 does not look whether its lock went away with the move.
  if (code == 0) return ForgetRefLock(name, target, INT64_MAX);
  const auto failure = FailGit(code, "move " + name);  // before other calls replace the message
  const bool blocked = code == GIT_EDIRECTORY || BlockedByAnotherRef(impl_->repository.get(), name);
  const bool lost = code == GIT_EMODIFIED || code == GIT_EEXISTS || code == GIT_ENOTFOUND;
  if (blocked || lost) return Lost(blocked, name, expected);
  return failure;
}

Result<> Repo::ForgetRefLock(const std::string& name, const Oid& target, int64_t since_ns) {
  constexpr int kLooks = 20;
  constexpr long kPauseNs = 50'000'000;
  UniqueFd common = BAWN_TRY(sys::OpenDir(AT_FDCWD, impl_->common_dir));
  const std::string lock = name + ".lock";
  std::optional<sys::FileStat> first;
  for (int i = 0; i < kLooks; ++i) {
    const auto now = sys::Fstatat(common.get(), lock);
    if (!now && (now.error().sys_errno == ENOENT || now.error().sys_errno == ENOTDIR)) return {};
    if (!now) return std::unexpected(now.error());
    if (!now->IsRegular() || now->uid != geteuid()) return {};
    const std::string text = BAWN_TRY(sys::ReadFileAt(common.get(), lock, kLockBytesMax));
    if (text == target + "\n") return sys::Unlinkat(common.get(), lock);
    const bool same = !first || (first->ino == now->ino && first->ctime_ns == now->ctime_ns);
    if (!text.empty() || !same || now->ctime_ns < since_ns) return {};
    first = *now;
    const timespec pause{.tv_sec = 0, .tv_nsec = kPauseNs};
    nanosleep(&pause, nullptr);
  }
  return sys::Unlinkat(common.get(), lock);
}

}  // namespace bawn::git
