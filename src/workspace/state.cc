#include "workspace/state.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/ids.h"
#include "base/text.h"
#include "sys/files.h"

namespace bawn::workspace {
namespace {

constexpr uint32_t kPrivate = 0700;
constexpr int kLockTries = 10;
constexpr useconds_t kLockPauseUs = 2000;

Result<std::string> ChoosePath(const StateEnv& env) {
  if (!env.bawn_state_dir.empty()) {
    if (env.bawn_state_dir.front() == '/') return env.bawn_state_dir;
    return Fail(ErrorCode::kInvalidArgument,
                "BAWN_STATE_DIR is not an absolute path: " + EscapeName(env.bawn_state_dir),
                "give an absolute path", "state.path");
  }
  if (env.uid == 0) return std::string("/var/lib/bawn");
  // A relative XDG path is to be ignored (XDG Base Directory Specification).
  if (env.xdg_state_home.starts_with('/')) return env.xdg_state_home + "/bawn";
  if (env.home.starts_with('/')) return env.home + "/.local/state/bawn";
  return Fail(ErrorCode::kFailedPrecondition, "no place for Bawn's state: HOME is not set",
              "set BAWN_STATE_DIR to a directory of your own", "state.path");
}

std::unexpected<Error> Refuse(const std::string& path, const std::string& why,
                              const std::string& hint) {
  return Fail(ErrorCode::kFailedPrecondition, "state directory " + EscapeName(path) + " " + why,
              hint, "state.private");
}

// Opens the directory, makes it where it is missing. A link at its own place is refused, links on
// the way to it are the system's or the user's own.
Result<UniqueFd> OpenOrMake(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  Result<UniqueFd> fd = sys::Openat2(AT_FDCWD, path, kFlags);
  if (!fd && fd.error().sys_errno == ENOENT) {
    BAWN_CHECK_OK(sys::MakeDirs(AT_FDCWD, path, kPrivate));
    fd = sys::Openat2(AT_FDCWD, path, kFlags);
  }
  if (fd || (fd.error().sys_errno != ENOTDIR && fd.error().sys_errno != ELOOP)) return fd;
  return Refuse(path, "is a symbolic link or no directory",
                "set BAWN_STATE_DIR to the real directory");
}

Result<> CheckPrivate(const UniqueFd& fd, const std::string& path, uint32_t uid) {
  sys::FileStat st = BAWN_TRY(sys::Fstat(fd.get()));
  if (st.uid != uid) {
    return Refuse(path, "belongs to uid " + std::to_string(st.uid) + ", not " + std::to_string(uid),
                  "set BAWN_STATE_DIR to a directory of your own");
  }
  if ((st.mode & 07777) != kPrivate) {
    std::array<char, 8> mode = {};
    std::snprintf(mode.data(), mode.size(), "%04o", st.mode & 07777);
    return Refuse(path, std::string("has mode ") + mode.data() + ", not 0700",
                  "look at what is in it, then: chmod 0700 " + EscapeName(path));
  }
  return {};
}

// Files that a payload made must never be where host git looks for a repository (RT-25).
Result<> CheckNotInWorkTree(const std::string& path) {
  for (std::string at = path; !at.empty(); at.resize(at.rfind('/'))) {
    Result<sys::FileStat> st = sys::Fstatat(AT_FDCWD, at + "/.git");
    if (!st) continue;
    if (st->IsDir() && !sys::Fstatat(AT_FDCWD, at + "/.git/HEAD")) continue;
    return Refuse(path, "lies in the git work tree " + EscapeName(at),
                  "set BAWN_STATE_DIR to a directory outside every work tree");
  }
  return {};
}

// Lists take the lock for a moment to see whether it is held; they must not look like a holder.
Result<> LockPatiently(int fd) {
  Result<> locked;
  for (int i = 0; i < kLockTries; ++i) {
    if (i > 0) usleep(kLockPauseUs);
    locked = sys::Flock(fd, sys::LockKind::kExclusiveNonBlocking);
    if (locked || locked.error().code != ErrorCode::kConflict) break;
  }
  return locked;
}

Result<> CheckId(const std::string& id) {
  if (IsId(id, "sb_")) return {};
  return Fail(ErrorCode::kInvalidArgument, "not a sandbox id: " + EscapeName(id), {}, "state.id");
}

// Everything of a new sandbox, below a name that no listing takes for one, and locked: nobody can
// meet it half made.
Result<SandboxDir> Build(int sandboxes, const std::string& temporary, bool layers) {
  SandboxDir dir;
  BAWN_CHECK_OK(sys::Mkdirat(sandboxes, temporary, kPrivate));
  dir.fd = BAWN_TRY(sys::OpenDir(sandboxes, temporary, sys::kUntrusted));
  dir.lock = BAWN_TRY(sys::Openat2(dir.fd.get(), "lock", O_RDWR | O_CREAT | O_EXCL, 0600));
  BAWN_CHECK_OK(sys::Flock(dir.lock.get(), sys::LockKind::kExclusiveNonBlocking));
  BAWN_CHECK_OK(sys::Mkdirat(dir.fd.get(), "jobs", kPrivate));
  if (layers) BAWN_CHECK_OK(MakeLayers(dir));
  return dir;
}

}  // namespace

Result<StateDir> OpenStateDir(const StateEnv& env) {
  std::string path = BAWN_TRY(ChoosePath(env));
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  StateDir state;
  state.fd = BAWN_TRY(OpenOrMake(path));
  state.path =
      BAWN_TRY(sys::Readlinkat(AT_FDCWD, "/proc/self/fd/" + std::to_string(state.fd.get())));
  BAWN_CHECK_OK(CheckPrivate(state.fd, state.path, env.uid));
  BAWN_CHECK_OK(CheckNotInWorkTree(state.path));
  return state;
}

Result<> MakeLayers(const SandboxDir& dir) {
  for (const char* name : {"initial", "layers", "layers/0", "layers/0/upper", "layers/0/work"}) {
    Result<> made = sys::Mkdirat(dir.fd.get(), name, kPrivate);
    if (!made && made.error().sys_errno != EEXIST) return made;
  }
  return {};
}

Result<SandboxDir> CreateSandboxDir(const StateDir& state, const std::string& id, bool layers) {
  BAWN_CHECK_OK(CheckId(id));
  Result<> made = sys::Mkdirat(state.fd.get(), "sb", kPrivate);
  if (!made && made.error().sys_errno != EEXIST) return std::unexpected(made.error());
  UniqueFd sandboxes = BAWN_TRY(sys::OpenDir(state.fd.get(), "sb", sys::kUntrusted));
  std::string temporary = kNewPrefix + id;
  Result<SandboxDir> dir = Build(sandboxes.get(), temporary, layers);
  if (dir) {
    constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE, renameat2(2)
    Result<> renamed = sys::Renameat2(sandboxes.get(), temporary, sandboxes.get(), id, kNoReplace);
    if (renamed) {
      dir->id = id;
      dir->path = state.path + "/sb/" + id;
      return dir;
    }
    dir = std::unexpected(renamed.error());
  }
  (void)RemoveTree(sandboxes.get(), temporary);  // the first error is the one to report
  return dir;
}

Result<SandboxDir> OpenSandboxDir(const StateDir& state, const std::string& id, bool exclusive) {
  BAWN_CHECK_OK(CheckId(id));
  Result<UniqueFd> fd = sys::OpenDir(state.fd.get(), "sb/" + id, sys::kUntrusted);
  if (!fd && fd.error().sys_errno == ENOENT) {
    return Fail(ErrorCode::kNotFound, "no sandbox " + id, "bawn list shows what there is");
  }
  if (!fd) return std::unexpected(fd.error());
  SandboxDir dir;
  dir.id = id;
  dir.path = state.path + "/sb/" + id;
  dir.fd = std::move(*fd);
  if (!exclusive) return dir;
  UniqueFd lock = BAWN_TRY(sys::Openat2(dir.fd.get(), "lock", O_RDWR, 0, sys::kUntrusted));
  Result<> locked = LockPatiently(lock.get());
  if (!locked && locked.error().code == ErrorCode::kConflict) {
    return Fail(ErrorCode::kConflict, "sandbox " + id + " is in use by another process",
                "it is live: end it with bawn cancel, or wait for it with bawn wait", "state.lock");
  }
  if (!locked) return std::unexpected(locked.error());
  // Removed (or removed and made anew) between opening and locking: the lock is worth nothing.
  Result<sys::FileStat> named = sys::Fstatat(state.fd.get(), "sb/" + id + "/lock");
  sys::FileStat held = BAWN_TRY(sys::Fstat(lock.get()));
  if (!named && named.error().sys_errno != ENOENT) return std::unexpected(named.error());
  if (!named || named->ino != held.ino || named->dev != held.dev) {
    return Fail(ErrorCode::kNotFound, "sandbox " + id + " was removed just now");
  }
  dir.lock = std::move(lock);
  return dir;
}

}  // namespace bawn::workspace
