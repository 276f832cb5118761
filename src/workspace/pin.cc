// The pin of a base commit: refs/bawn/base/<id>, so that the host's gc keeps what only the sandbox
// still needs (RT-18). A loose ref written as git writes one: NAME.lock made O_EXCL, filled, then
// linked to its name. The host's gc may move it to packed-refs; then it is taken out of there.
#include <unistd.h>

#include <cerrno>

#include "base/ids.h"
#include "base/text.h"
#include "sys/files.h"
#include "workspace/open.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

constexpr char kDirectory[] = "refs/bawn/base";
constexpr char kPackedLock[] = "packed-refs.lock";
constexpr int kTries = 50;
constexpr useconds_t kPauseUs = 10'000;

Result<> CheckId(const std::string& id) {
  if (IsId(id, "sb_")) return {};
  return Fail(ErrorCode::kInvalidArgument, "not a sandbox id: " + EscapeName(id));
}

Result<> WriteLoose(int common_dir, const std::string& name, const std::string& line) {
  BAWN_CHECK_OK(sys::MakeDirs(common_dir, kDirectory, 0777));
  std::string lock = name + ".lock";
  UniqueFd fd =
      BAWN_TRY(sys::Openat2(common_dir, lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  Result<> done = sys::WriteAll(fd.get(), line);
  if (done) done = sys::Linkat(common_dir, lock, common_dir, name);
  (void)sys::Unlinkat(common_dir, lock);  // ours; the first error is the one to report
  return done;
}

// packed-refs without the ref (and the peeled line behind it); absent when it is not in there.
std::optional<std::string> Without(std::string_view packed, const std::string& name) {
  std::string out;
  bool found = false, dropping = false;
  for (std::string_view line : Lines(packed)) {
    dropping =
        (dropping && line.starts_with('^')) || (line.ends_with(name) && line.size() > name.size() &&
                                                line[line.size() - name.size() - 1] == ' ');
    found |= dropping;
    if (!dropping) out += std::string(line) + "\n";
  }
  if (!found) return std::nullopt;
  return out;
}

// Takes git's lock by a link, so that one left by a kill -9 can be told from somebody else's: the
// other name of its inode is `own`.
Result<UniqueFd> LockPacked(int common_dir, const std::string& own) {
  Result<sys::FileStat> left = sys::Fstatat(common_dir, own);
  Result<sys::FileStat> lock = sys::Fstatat(common_dir, kPackedLock);
  if (left && lock && left->ino == lock->ino) {
    BAWN_CHECK_OK(sys::Unlinkat(common_dir, kPackedLock));
  }
  if (left) BAWN_CHECK_OK(sys::Unlinkat(common_dir, own));
  UniqueFd fd = BAWN_TRY(sys::Openat2(common_dir, own, O_WRONLY | O_CREAT | O_EXCL, 0644));
  Result<> taken;
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) usleep(kPauseUs);
    taken = sys::Linkat(common_dir, own, common_dir, kPackedLock);
    if (taken || taken.error().sys_errno != EEXIST) break;
  }
  if (taken) return fd;
  (void)sys::Unlinkat(common_dir, own);  // the first error is the one to report
  return std::unexpected(taken.error());
}

Result<> RemovePacked(int common_dir, const std::string& name, const std::string& id) {
  std::string own = "bawn-" + id + ".refs";
  std::optional<std::string> packed =
      BAWN_TRY(ReadIfExists(common_dir, "packed-refs", kPackedRefsMax));
  if ((!packed || !Without(*packed, name)) && !sys::Fstatat(common_dir, own)) return {};
  Result<UniqueFd> lock = LockPacked(common_dir, own);
  if (!lock) return std::unexpected(WithContext(lock.error(), "while removing " + name));
  Result<std::optional<std::string>> now = ReadIfExists(common_dir, "packed-refs", kPackedRefsMax);
  std::optional<std::string> rest = now && *now ? Without(**now, name) : std::nullopt;
  Result<> done = now ? Result<>() : std::unexpected(now.error());
  if (rest) done = sys::WriteAll(lock->get(), *rest);
  if (done && rest) done = sys::Fsync(lock->get());  // every packed ref of the user is in there
  if (done && rest) done = sys::Renameat2(common_dir, kPackedLock, common_dir, "packed-refs");
  if (!done || !rest) (void)sys::Unlinkat(common_dir, kPackedLock);  // ours
  Result<> gone = sys::Unlinkat(common_dir, own);
  return done ? gone : done;
}

}  // namespace

Result<> PinBase(const Repository& repository, const std::string& id, const std::string& commit) {
  BAWN_CHECK_OK(CheckId(id));
  if (!IsObjectName(commit)) {
    return Fail(ErrorCode::kInvalidArgument, "not a commit: " + EscapeName(commit));
  }
  UniqueFd common = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.common_dir));
  std::string name = std::string(kDirectory) + "/" + id;
  Result<> done;
  for (int i = 0; i < kTries; ++i) {
    done = WriteLoose(common.get(), name, commit + "\n");
    // ENOENT: the end of the last other sandbox removed the directory in between.
    if (done || done.error().sys_errno != ENOENT) break;
  }
  if (!done && done.error().sys_errno == EEXIST) {
    Result<std::string> there = sys::ReadFileAt(common.get(), name, kSmallFileMax);
    if (there && TrimRight(*there) == commit) return {};
  }
  int code = done ? 0 : done.error().sys_errno;
  if (done || code == EACCES || code == EROFS || code == EPERM) return {};
  return std::unexpected(WithContext(done.error(), "while pinning the base commit"));
}

Result<> UnpinBase(const std::string& common_dir, const std::string& id) {
  BAWN_CHECK_OK(CheckId(id));
  Result<UniqueFd> common = sys::OpenDir(AT_FDCWD, common_dir);
  if (!common && common.error().sys_errno == ENOENT) return {};  // and with it the pin
  if (!common) return std::unexpected(common.error());
  std::string name = std::string(kDirectory) + "/" + id;
  // Packed first: were the loose one removed before, a kill in between would bring the old one
  // back.
  BAWN_CHECK_OK(RemovePacked(common->get(), name, id));
  for (const std::string& file : {name + ".lock", name}) {
    Result<> removed = sys::Unlinkat(common->get(), file);
    if (!removed && removed.error().sys_errno != ENOENT) return removed;
  }
  for (const char* directory : {kDirectory, "refs/bawn"}) {
    Result<> removed = sys::Unlinkat(common->get(), directory, AT_REMOVEDIR);
    if (!removed) break;  // other sandboxes have theirs in there
  }
  return {};
}

}  // namespace bawn::workspace
