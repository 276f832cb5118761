#include "workspace/repository.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "sys/files.h"
#include "sys/users.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

std::unexpected<Error> Malformed(const std::string& file, const std::string& why) {
  return Fail(ErrorCode::kFailedPrecondition, EscapeName(file) + " " + why,
              "git status says more; bawn run -w names another directory", "repository.malformed");
}

// What <common dir>/config and config.worktree say that decides whether and how to read on.
struct Format {
  bool bare = false;
  std::string work_tree;
  std::string unsupported;
  bool sha256 = false;
  bool worktree_config = false;
};

void JudgeExtension(std::string_view name, const std::string& value, Format* format) {
  if (name == "worktreeconfig") {
    format->worktree_config = ConfigBool(value).value_or(false);
  } else if (name == "objectformat") {
    if (value == "sha1") return;
    format->sha256 = value == "sha256";
    format->unsupported = format->sha256 ? value : "object format " + value;
  } else if (name == "refstorage") {
    if (value != "files") format->unsupported = value;
  } else if (name != "noop" && name != "partialclone" && name != "preciousobjects" &&
             name != "relativeworktrees") {
    format->unsupported = "extension " + std::string(name);
  }
}

void JudgeFormat(const std::vector<ConfigEntry>& entries, Format* format) {
  for (const ConfigEntry& entry : entries) {
    std::string value = entry.value.value_or("true");
    if (entry.key.starts_with("extensions.")) {
      JudgeExtension(std::string_view(entry.key).substr(11), value, format);
    } else if (entry.key == "core.repositoryformatversion") {
      if (value != "0" && value != "1") format->unsupported = "repository format " + value;
    } else if (entry.key == "core.bare") {
      format->bare = ConfigBool(entry.value).value_or(false);
    } else if (entry.key == "core.worktree") {
      format->work_tree = value;
    }
  }
}

// Git reads these two files with includes off when it decides on the format.
Result<Format> ReadFormat(int git_dir, int common_dir, bool linked) {
  Format format;
  JudgeFormat(BAWN_TRY(ReadConfigFile(common_dir, "config")), &format);
  if (linked) {  // core.bare and core.worktree of the common config are the main work tree's
    format.bare = false;
    format.work_tree.clear();
  }
  if (format.worktree_config) {
    JudgeFormat(BAWN_TRY(ReadConfigFile(git_dir, "config.worktree")), &format);
  }
  return format;
}

// Root is no exception: its rights make it worse to follow a stranger's links and configuration.
Result<> CheckOwner(int fd, const std::string& path) {
  uint32_t uid = geteuid();
  sys::FileStat st = BAWN_TRY(sys::Fstat(fd));
  if (st.uid == uid || st.uid == 0) return {};
  if (uid == 0) return RefuseForeignTree(path, st.uid);
  return Fail(ErrorCode::kPermissionDenied,
              EscapeName(path) + " belongs to uid " + std::to_string(st.uid) +
                  ": its git configuration would decide what runs here",
              "work in a clone of your own", "repository.owner");
}

// "gitdir: PATH", relative to the directory that holds the file (gitrepository-layout(5)).
Result<UniqueFd> OpenPointer(int fd, int directory, const std::string& file) {
  std::string text = BAWN_TRY(sys::ReadAll(fd, kSmallFileMax));
  constexpr std::string_view kPrefix = "gitdir: ";
  std::string_view target = TrimRight(text);
  if (!target.starts_with(kPrefix)) return Malformed(file, "does not start with \"gitdir: \"");
  target.remove_prefix(kPrefix.size());
  Result<UniqueFd> opened = sys::OpenDir(directory, target);
  if (!opened) {
    return Malformed(
        file, "points to " + EscapeName(target) + ": " + ErrnoName(opened.error().sys_errno));
  }
  return opened;
}

struct GitDir {
  UniqueFd fd;
  UniqueFd common;
  bool is_file = false;
};

// The git directory behind `<top>/.git`; absent when there is none, or none that git would take.
Result<std::optional<GitDir>> OpenGitDir(int top_fd, const std::string& top) {
  std::string file = top + "/.git";
  Result<UniqueFd> found = sys::Openat2(top_fd, ".git", O_RDONLY | O_NONBLOCK);
  if (!found) {
    int code = found.error().sys_errno;
    if (code == ENOENT || code == ENOTDIR) return std::optional<GitDir>{};
    return std::unexpected(WithContext(std::move(found).error(), "repository " + EscapeName(top)));
  }
  GitDir git;
  sys::FileStat st = BAWN_TRY(sys::Fstat(found->get()));
  git.is_file = st.IsRegular();
  if (!git.is_file && !st.IsDir()) return Malformed(file, "is neither a directory nor a file");
  BAWN_CHECK_OK(CheckOwner(found->get(), file));
  git.fd = git.is_file ? BAWN_TRY(OpenPointer(found->get(), top_fd, file)) : std::move(*found);
  if (!sys::Fstatat(git.fd.get(), "HEAD")) {
    if (git.is_file) return Malformed(file, "points to a directory without HEAD");
    return std::optional<GitDir>{};  // git goes on to the parent, too
  }
  std::optional<std::string> common =
      BAWN_TRY(ReadIfExists(git.fd.get(), "commondir", kSmallFileMax));
  if (common) {
    Result<UniqueFd> opened = sys::OpenDir(git.fd.get(), TrimRight(*common));
    if (!opened) {
      return Malformed(BAWN_TRY(PathOfFd(git.fd.get())) + "/commondir",
                       "points to " + EscapeName(TrimRight(*common)) + ": " +
                           ErrnoName(opened.error().sys_errno));
    }
    git.common = std::move(*opened);
  }
  return git;
}

// States git keeps in files of the git directory; the private copy starts without them.
Result<std::vector<std::string>> InProgress(int git_dir) {
  constexpr std::pair<const char*, const char*> kStates[] = {
      {"MERGE_HEAD", "merge"},    {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
      {"rebase-merge", "rebase"}, {"rebase-apply", "rebase or am"},    {"BISECT_LOG", "bisect"},
  };
  std::vector<std::string> found;
  for (const auto& [name, state] : kStates) {
    if (sys::Fstatat(git_dir, name)) found.emplace_back(state);
  }
  return found;
}

Result<std::optional<Repository>> ReadAt(const UniqueFd& top_fd, const std::string& top) {
  std::optional<GitDir> git = BAWN_TRY(OpenGitDir(top_fd.get(), top));
  if (!git) return std::optional<Repository>{};
  int common = git->common.valid() ? git->common.get() : git->fd.get();
  Repository repository;
  repository.work_tree = top;
  repository.dot_git_is_file = git->is_file;
  repository.git_dir = BAWN_TRY(PathOfFd(git->fd.get()));
  repository.common_dir = git->common.valid() ? BAWN_TRY(PathOfFd(common)) : repository.git_dir;
  BAWN_CHECK_OK(CheckOwner(git->fd.get(), repository.git_dir));
  BAWN_CHECK_OK(CheckOwner(common, repository.common_dir));
  Format format = BAWN_TRY(ReadFormat(git->fd.get(), common, git->common.valid()));
  if (format.bare && format.work_tree.empty()) return std::optional<Repository>{};
  repository.unsupported = format.unsupported;
  repository.sha256 = format.sha256;
  repository.worktree_config = format.worktree_config;
  if (!format.work_tree.empty()) {
    Result<UniqueFd> elsewhere = sys::OpenDir(git->fd.get(), format.work_tree);
    bool same = elsewhere && BAWN_TRY(PathOfFd(elsewhere->get())) == top;
    if (!same) repository.unsupported = "core.worktree elsewhere";
  }
  if (repository.unsupported.empty() || repository.sha256) {
    BAWN_CHECK_OK(ReadRefs(git->fd.get(), common, &repository));
    BAWN_CHECK_OK(ReadObjectDirs(common, &repository));
  }
  repository.in_progress = BAWN_TRY(InProgress(git->fd.get()));
  return repository;
}

}  // namespace

Result<std::optional<std::string>> ReadIfExists(int dirfd, const std::string& name,
                                                size_t bytes_max) {
  Result<std::string> text = sys::ReadFileAt(dirfd, name, bytes_max);
  if (text) return std::optional(*std::move(text));
  if (text.error().sys_errno == ENOENT) return std::optional<std::string>{};
  return std::unexpected(std::move(text).error());
}

Result<std::vector<ConfigEntry>> ReadConfigFile(int dirfd, const std::string& name) {
  std::optional<std::string> text = BAWN_TRY(ReadIfExists(dirfd, name, kConfigFileMax));
  if (!text) return std::vector<ConfigEntry>{};
  return ParseConfigText(*text, BAWN_TRY(PathOfFd(dirfd)) + "/" + name);
}

Result<std::string> PathOfFd(int fd) {
  return sys::Readlinkat(AT_FDCWD, "/proc/self/fd/" + std::to_string(fd));
}

Result<std::optional<Repository>> ReadRepositoryAt(const std::string& top) {
  UniqueFd fd = BAWN_TRY(sys::Openat2(AT_FDCWD, top, O_PATH | O_DIRECTORY));
  return ReadAt(fd, top);
}

std::unexpected<Error> RefuseForeignTree(const std::string& path, uint32_t owner) {
  std::optional<sys::PasswdEntry> entry = sys::FindUser(owner);
  std::string name = entry ? entry->name : std::to_string(owner);
  return Fail(ErrorCode::kPermissionDenied,
              EscapeName(path) + " belongs to " + name + ", and this is root",
              "run Bawn as its owner: runuser -u " + name + " -- bawn …", "root.foreign_tree");
}

Result<std::optional<Repository>> FindRepository(const std::string& directory) {
  UniqueFd fd = BAWN_TRY(sys::Openat2(AT_FDCWD, directory, O_PATH | O_DIRECTORY));
  std::string top = BAWN_TRY(PathOfFd(fd.get()));
  uint64_t device = BAWN_TRY(sys::Fstat(fd.get())).dev;
  while (true) {
    std::optional<Repository> repository = BAWN_TRY(ReadAt(fd, top));
    if (repository) {
      BAWN_CHECK_OK(ReadSubmodules(&*repository));
      return repository;
    }
    if (top == "/") return std::optional<Repository>{};
    top.resize(std::max<size_t>(top.rfind('/'), 1));
    Result<UniqueFd> parent = sys::Openat2(fd.get(), "..", O_PATH | O_DIRECTORY);
    if (!parent) return std::optional<Repository>{};
    fd = std::move(*parent);
    if (BAWN_TRY(sys::Fstat(fd.get())).dev != device) return std::optional<Repository>{};
  }
}

}  // namespace bawn::workspace
