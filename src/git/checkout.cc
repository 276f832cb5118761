// git/checkout.cc
// Which work tree of the repository a branch is checked out in (RT-23): moving such a branch makes
// that tree look reverted. Reads the few files that git itself looks at (git's branch.c,
// wt-status.c; gitrepository-layout(5)).
#include <fcntl.h>

#include "git/impl.h"
#include "git/repo.h"
#include "sys/files.h"

namespace bawn::git {
namespace {

constexpr size_t kPointerBytesMax = 1 << 20;

// The first line of a small file; empty when there is none.
Result<std::string> Line(int dir_fd, const std::string& name) {
  auto text = sys::ReadFileAt(dir_fd, name, kPointerBytesMax);
  if (!text) {
    if (text.error().sys_errno == ENOENT || text.error().sys_errno == ENOTDIR) return "";
    return std::unexpected(text.error());
  }
  return text->substr(0, text->find_first_of("\r\n"));
}

// HEAD, or the branch that an operation in progress will go back to.
Result<bool> Uses(int dir_fd, const std::string& ref, bool bare) {
  const std::string short_name = ref.starts_with("refs/heads/") ? ref.substr(11) : ref;
  if (!bare) {
    const auto link = sys::Readlinkat(dir_fd, "HEAD");  // the form before git 1.5
    if (link && *link == ref) return true;
    if (!link && BAWN_TRY(Line(dir_fd, "HEAD")) == "ref: " + ref) return true;
  }
  for (const char* head_name : {"rebase-merge/head-name", "rebase-apply/head-name"}) {
    if (BAWN_TRY(Line(dir_fd, head_name)) == ref) return true;
  }
  // rebase --update-refs: groups of three lines, the first of each a ref that will be moved.
  const auto updates = sys::ReadFileAt(dir_fd, "rebase-merge/update-refs", kPointerBytesMax);
  if (updates && ("\n" + *updates).find("\n" + ref + "\n") != std::string::npos) return true;
  const std::string bisect = BAWN_TRY(Line(dir_fd, "BISECT_START"));
  return !bisect.empty() && (bisect == short_name || bisect == ref);
}

std::string MainTreeOf(const std::string& common_dir, const std::optional<std::string>& worktree) {
  if (worktree) return worktree->starts_with('/') ? *worktree : common_dir + "/" + *worktree;
  return common_dir.ends_with("/.git") ? common_dir.substr(0, common_dir.size() - 5) : common_dir;
}

// worktrees/NAME/gitdir names the .git file of that tree, absolute or relative to where it stands.
Result<std::string> LinkedTreeOf(int dir_fd, const std::string& dir) {
  std::string pointer = BAWN_TRY(Line(dir_fd, "gitdir"));
  if (pointer.ends_with("/.git")) pointer.resize(pointer.size() - 5);
  if (pointer.empty()) return dir;
  return pointer.starts_with('/') ? pointer : dir + "/" + pointer;
}

}  // namespace

Result<std::string> Repo::CheckedOutAt(const std::string& ref) {
  const std::string& common = impl_->common_dir;
  const UniqueFd main = BAWN_TRY(sys::OpenDir(AT_FDCWD, common));
  const bool bare = BAWN_TRY(ConfigBool("core.bare", false));
  if (BAWN_TRY(Uses(main.get(), ref, bare))) {
    return MainTreeOf(common, BAWN_TRY(ConfigString("core.worktree")));
  }
  const auto worktrees = sys::OpenDir(main.get(), "worktrees");
  if (!worktrees) {
    if (worktrees.error().sys_errno == ENOENT) return "";
    return std::unexpected(worktrees.error());
  }
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(worktrees->get()))) {
    const auto dir = sys::OpenDir(worktrees->get(), entry.name);
    if (!dir) continue;  // a stray file
    if (BAWN_TRY(Uses(dir->get(), ref, false))) {
      return LinkedTreeOf(dir->get(), common + "/worktrees/" + entry.name);
    }
  }
  return "";
}

}  // namespace bawn::git
