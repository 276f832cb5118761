#include "workspace/private_git.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/files.h"
#include "workspace/git_syntax.h"
#include "workspace/index_lookup.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

constexpr size_t kInfoFileMax = 16 << 20;

std::string HeadText(const Repository& repository) {
  if (!repository.head_ref.empty()) return "ref: " + repository.head_ref + "\n";
  return repository.head_commit + "\n";
}

// The main work tree's HEAD, seen from a linked one.
std::string CommonHeadText(int common_dir) {
  Result<std::string> text = sys::ReadFileAt(common_dir, "HEAD", kSmallFileMax);
  std::string_view line = text ? TrimRight(*text) : std::string_view();
  bool good = IsObjectName(line) || (line.starts_with("ref: ") && IsSafeRefName(line.substr(5)));
  return good ? std::string(line) + "\n" : "ref: refs/heads/main\n";
}

Result<> WriteRefs(int dirfd, const Repository& repository) {
  BAWN_CHECK_OK(sys::MakeDirs(dirfd, "refs/heads", 0755));
  if (!repository.refs.empty()) {
    // Not "peeled": git looks tags up itself where it needs to.
    std::string packed = "# pack-refs with: sorted \n";
    for (const auto& [name, hex] : repository.refs) packed += hex + " " + name + "\n";
    BAWN_CHECK_OK(WriteNew(dirfd, "packed-refs", packed));
  }
  for (const auto& [name, target] : repository.symbolic_refs) {
    BAWN_CHECK_OK(sys::MakeDirs(dirfd, name.substr(0, name.rfind('/')), 0755));
    BAWN_CHECK_OK(WriteNew(dirfd, name, "ref: " + target + "\n"));
  }
  return {};
}

Result<> CopyIfExists(int from, int to, const std::string& name) {
  std::optional<std::string> text = BAWN_TRY(ReadIfExists(from, name, kInfoFileMax));
  return text ? WriteNew(to, name, *text) : Result<>();
}

// A pinned index is the same file: git replaces its index by rename, and so keeps ours as it is. On
// the overlay a write inside goes to a copy. Where the two directories are on different file
// systems the bytes are copied, with their time, by which git knows a file changed since.
Result<> LinkOrCopy(int from, int to, const std::string& name) {
  Result<sys::FileStat> st = sys::Fstatat(from, name);
  if (!st && st.error().sys_errno == ENOENT) return {};
  if (!st) return std::unexpected(st.error());
  if (!st->IsRegular()) {
    return Fail(ErrorCode::kFailedPrecondition,
                "git's " + EscapeName(name) + " is no regular file");
  }
  if (sys::Linkat(from, name, to, name)) return {};
  return CopyFile(from, name, to, name, *st);
}

Result<> PinIndex(int git_dir, int to) {
  BAWN_CHECK_OK(LinkOrCopy(git_dir, to, "index"));
  for (const std::string& name : BAWN_TRY(SharedIndexes(git_dir))) {
    BAWN_CHECK_OK(LinkOrCopy(git_dir, to, name));
  }
  return {};
}

// What belongs to one work tree: HEAD, index, sparse patterns.
Result<> WriteWorktreePart(int git_dir, int to, const Repository& repository) {
  BAWN_CHECK_OK(WriteNew(to, "HEAD", HeadText(repository)));
  BAWN_CHECK_OK(PinIndex(git_dir, to));
  Result<> made = sys::Mkdirat(to, "info", 0755);
  if (!made && made.error().sys_errno != EEXIST) return made;
  return CopyIfExists(git_dir, to, "info/sparse-checkout");
}

Result<> WriteUserFile(int dirfd, const std::string& source, const char* name,
                       const std::string& shown_at, std::string* setting) {
  if (source.empty()) return {};
  Result<std::string> text = sys::ReadFileAt(AT_FDCWD, source, kInfoFileMax);
  if (!text) return {};  // git takes a missing or unreadable one for empty
  BAWN_CHECK_OK(WriteNew(dirfd, name, *text));
  *setting = shown_at + "/" + name;
  return {};
}

}  // namespace

std::string LinkedName(const Repository& repository) {
  std::string prefix = repository.common_dir + "/worktrees/";
  if (!repository.git_dir.starts_with(prefix)) return {};
  std::string name = repository.git_dir.substr(prefix.size());
  return name.find('/') == std::string::npos ? name : std::string();
}

Result<> WritePrivateCommon(int dirfd, PrivateGit git) {
  const Repository& repository = *git.repository;
  UniqueFd host = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.common_dir));
  BAWN_CHECK_OK(sys::MakeDirs(dirfd, "objects/info", 0755));
  BAWN_CHECK_OK(sys::Mkdirat(dirfd, "info", 0755));
  // Empty, as git init leaves it: tools that install a hook write into it and do not make it.
  BAWN_CHECK_OK(sys::Mkdirat(dirfd, "hooks", 0755));
  std::string alternates;
  for (const std::string& path : git.alternates) alternates += path + "\n";
  BAWN_CHECK_OK(WriteNew(dirfd, "objects/info/alternates", alternates));
  BAWN_CHECK_OK(WriteRefs(dirfd, repository));
  for (const char* name : {"info/exclude", "info/attributes", "shallow"}) {
    BAWN_CHECK_OK(CopyIfExists(host.get(), dirfd, name));
  }
  BAWN_CHECK_OK(WriteUserFile(dirfd, git.excludes_file, "info/bawn.excludes", git.shown_at,
                              &git.facts.excludes));
  BAWN_CHECK_OK(WriteUserFile(dirfd, git.attributes_file, "info/bawn.attributes", git.shown_at,
                              &git.facts.attributes));
  BAWN_CHECK_OK(WriteNew(dirfd, "config", PrivateConfigText(git.facts, *git.config)));
  if (repository.common_dir == repository.git_dir) {
    return WriteWorktreePart(host.get(), dirfd, repository);
  }
  if (!git.flat) return WriteNew(dirfd, "HEAD", CommonHeadText(host.get()));
  UniqueFd own = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.git_dir));
  return WriteWorktreePart(own.get(), dirfd, repository);
}

Result<> WritePrivateWorktree(int common_fd, const PrivateGit& git) {
  const Repository& repository = *git.repository;
  std::string place = "worktrees/" + LinkedName(repository);
  UniqueFd host = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.git_dir));
  BAWN_CHECK_OK(sys::MakeDirs(common_fd, place, 0755));
  UniqueFd to = BAWN_TRY(sys::OpenDir(common_fd, place, sys::kUntrusted));
  BAWN_CHECK_OK(WriteNew(to.get(), "commondir", "../..\n"));
  BAWN_CHECK_OK(CopyIfExists(host.get(), to.get(), "gitdir"));
  return WriteWorktreePart(host.get(), to.get(), repository);
}

}  // namespace bawn::workspace
