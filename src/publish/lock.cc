#include "publish/lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"

namespace bawn::publish {
namespace {

constexpr int kPauseMs = 20;
constexpr size_t kNoteBytesMax = 4096;
constexpr char kUnfinished[] = ".json.new";

Result<UniqueFd> LocksDir(const workspace::StateDir& state) {
  Result<> made = sys::Mkdirat(state.fd.get(), "locks", 0700);
  if (!made && made.error().sys_errno != EEXIST) return std::unexpected(std::move(made).error());
  return sys::OpenDir(state.fd.get(), "locks", sys::kUntrusted);
}

Result<UniqueFd> Lock(int locks, const std::string& name, const std::string& what) {
  UniqueFd fd = BAWN_TRY(sys::Openat2(locks, name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  for (int waited = 0;; waited += kPauseMs) {
    Result<> locked = sys::Flock(fd.get(), sys::LockKind::kExclusiveNonBlocking);
    if (locked) return fd;
    if (locked.error().code != ErrorCode::kConflict) return std::unexpected(locked.error());
    if (waited >= kLockWaitMs) break;
    usleep(kPauseMs * 1000);
  }
  return Fail(ErrorCode::kConflict, what + " is being written by another command of Bawn",
              "wait for it to end, then repeat yours", "publish.lock");
}

}  // namespace

Result<TreeLock> TreeLock::Take(const workspace::StateDir& state, int tree_fd) {
  sys::FileStat tree = BAWN_TRY(sys::Fstat(tree_fd));
  UniqueFd locks = BAWN_TRY(LocksDir(state));
  std::string name = "tree-" + std::to_string(tree.dev) + "-" + std::to_string(tree.ino);
  UniqueFd lock = BAWN_TRY(Lock(locks.get(), name + ".lock", "the workspace"));
  // Of a note whose writer was killed; nobody else writes one under this lock.
  Result<> gone = sys::Unlinkat(locks.get(), name + kUnfinished);
  if (!gone && gone.error().sys_errno != ENOENT) return std::unexpected(std::move(gone).error());
  return TreeLock(std::move(locks), std::move(lock), std::move(name));
}

Result<std::optional<TreeNote>> TreeLock::ReadNote() const {
  Result<std::string> text = sys::ReadFileAt(locks_.get(), name_ + ".json", kNoteBytesMax);
  if (!text && text.error().sys_errno == ENOENT) return std::optional<TreeNote>();
  if (!text) return std::unexpected(std::move(text).error());
  Json json = BAWN_TRY(ParseJson(*text));
  return std::optional<TreeNote>({json.GetString("sandbox"), json.GetString("journal"),
                                  json.GetString("before_sandbox"),
                                  json.GetString("before_journal")});
}

Result<> TreeLock::WriteNote(const TreeNote& note) const {
  JsonObject json;
  json["sandbox"] = note.sandbox;
  json["journal"] = note.journal;
  json["before_sandbox"] = note.before_sandbox;
  json["before_journal"] = note.before_journal;
  std::string unfinished = name_ + kUnfinished;
  UniqueFd file = BAWN_TRY(
      sys::Openat2(locks_.get(), unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  BAWN_CHECK_OK(sys::WriteAll(file.get(), ToJsonText(Json(std::move(json)))));
  // Synced with what is staged.
  return sys::Renameat2(locks_.get(), unfinished, locks_.get(), name_ + ".json");
}

Result<UniqueFd> LockRef(const workspace::StateDir& state, const std::string& common_dir,
                         const std::string& ref) {
  UniqueFd locks = BAWN_TRY(LocksDir(state));
  std::string name = "ref-" + Sha256Hex(common_dir + '\0' + ref).substr(0, 32) + ".lock";
  return Lock(locks.get(), name, EscapeName(ref));
}

}  // namespace bawn::publish
