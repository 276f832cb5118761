// Which directory is the workspace, and which may not be one (RT-02). Names are compared by path
// and by identity, so a bind mount of a home under another name is a home, too.
#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/environment.h"
#include "workspace/open.h"
#include "workspace/paths.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

// No workspace, and no workspace above them.
constexpr std::string_view kSystemDirs[] = {
    "/bin",       "/boot",    "/dev",       "/etc",      "/home",      "/lib",     "/lib32",
    "/lib64",     "/libx32",  "/media",     "/mnt",      "/opt",       "/proc",    "/root",
    "/run",       "/sbin",    "/srv",       "/sys",      "/tmp",       "/usr",     "/usr/bin",
    "/usr/games", "/usr/lib", "/usr/local", "/usr/sbin", "/usr/share", "/usr/src", "/var",
    "/var/cache", "/var/lib", "/var/log",   "/var/run",  "/var/spool", "/var/tmp",
};
// Nothing at or below them: kernel interfaces, sockets, and the view's own places.
constexpr std::string_view kNeverBelow[] = {"/.bawn", "/dev", "/proc", "/run", "/sys"};

std::unexpected<Error> Refuse(const std::string& root, const std::string& why) {
  return Fail(ErrorCode::kPermissionDenied, "workspace " + EscapeName(root) + " " + why,
              "name a project directory with -w", "workspace.root");
}

// Is the directory `root`, by identity, `path` or one of its parents? Looked at from the top: below
// what is missing there is nothing, and the next path shares most of its levels with this one.
class Identities {
 public:
  explicit Identities(const sys::FileStat& root) : root_(root) {}

  bool Holds(const std::string& path) {
    while (!levels_.empty() && !IsAtOrBelow(path, LevelPath(levels_.back()))) levels_.pop_back();
    path_ = path;
    size_t at = levels_.empty() ? 0 : levels_.back().end;
    while (at < path.size() && (levels_.empty() || levels_.back().exists)) {
      at = std::min(path.find('/', at + 1), path.size());
      levels_.push_back(Look(at));
    }
    return std::ranges::any_of(levels_, &Level::is_root);
  }

 private:
  struct Level {
    size_t end;  // in path_
    bool exists, is_root;
  };

  std::string_view LevelPath(const Level& level) const {
    return std::string_view(path_).substr(0, level.end);
  }

  Level Look(size_t end) const {
    std::optional<sys::FileStat> st = sys::FindStat(AT_FDCWD, path_.substr(0, end).c_str(), 0);
    return {end, st.has_value(), st && st->dev == root_.dev && st->ino == root_.ino};
  }

  sys::FileStat root_;
  std::string path_;  // the one looked at last
  std::vector<Level> levels_;
};

Result<> CheckSystem(const std::string& root, Identities* identities) {
  if (root == "/") return Refuse(root, "is the whole file system");
  for (std::string_view never : kNeverBelow) {
    if (IsAtOrBelow(root, never)) return Refuse(root, "lies in " + std::string(never));
  }
  for (std::string_view system : kSystemDirs) {
    if (IsAtOrBelow(system, root) || identities->Holds(std::string(system))) {
      return Refuse(root, "is or holds the system directory " + std::string(system));
    }
  }
  return {};
}

Result<> CheckHomes(const std::string& root, const std::string& own_home, Identities* identities) {
  std::vector<std::string> homes = PeoplesHomes();
  if (own_home.starts_with('/')) homes.push_back(own_home);
  for (const std::string& home : homes) {
    if (home.size() < 2) continue;
    if (IsAtOrBelow(home, root) || identities->Holds(home)) {
      return Refuse(root, "is or holds the home directory " + EscapeName(home));
    }
  }
  return {};
}

Result<> CheckProtected(const OpenRequest& request, Identities* identities) {
  std::vector<std::string> paths = request.protected_paths;
  if (!request.state_path.empty()) paths.push_back(request.state_path);
  for (const std::string& path : paths) {
    std::string what = path == request.state_path ? "Bawn's own directory " : "the protected path ";
    if (IsAtOrBelow(request.root, path))
      return Refuse(request.root, "lies in " + what + EscapeName(path));
    if (IsAtOrBelow(path, request.root) || identities->Holds(path)) {
      return Refuse(request.root, "is or holds " + what + EscapeName(path));
    }
  }
  return {};
}

}  // namespace

Result<std::string> ResolveRoot(const std::string& dash_w, const std::string& cwd,
                                const std::optional<Repository>& repository) {
  if (dash_w.empty() && repository) return repository->work_tree;
  std::string path = dash_w.empty() ? cwd : dash_w;
  if (!path.starts_with('/')) path = JoinPath(cwd, path);
  Result<UniqueFd> fd = sys::Openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY);
  if (!fd) {
    int code = fd.error().sys_errno;
    std::string why = code == ENOTDIR  ? "is not a directory"
                      : code == ENOENT ? "does not exist"
                                       : "cannot be opened: " + ErrnoName(code);
    return Fail(code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
                "workspace " + EscapeName(path) + " " + why, "name an existing directory with -w",
                "workspace.root");
  }
  std::string real = BAWN_TRY(PathOfFd(fd->get()));
  // A removed directory has a name with " (deleted)" behind it, or one that is another's by now.
  sys::FileStat held = BAWN_TRY(sys::Fstat(fd->get()));
  Result<sys::FileStat> named = sys::Fstatat(AT_FDCWD, real);
  if (!named || named->dev != held.dev || named->ino != held.ino) {
    return Fail(ErrorCode::kNotFound, "workspace " + EscapeName(path) + " was removed",
                "change to an existing directory", "workspace.root");
  }
  return real;
}

Result<> CheckRoot(const OpenRequest& request) {
  sys::FileStat st = BAWN_TRY(sys::Fstatat(AT_FDCWD, request.root));
  if (!st.IsDir()) return Refuse(request.root, "is not a directory");
  Identities identities(st);
  BAWN_CHECK_OK(CheckSystem(request.root, &identities));
  BAWN_CHECK_OK(CheckHomes(request.root, request.home, &identities));
  return CheckProtected(request, &identities);
}

}  // namespace bawn::workspace
