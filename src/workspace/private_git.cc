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
constexpr size_t kPlanIndexMax = 512 << 10;

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

Result<> WriteRefs(GitFiles& files, const Repository& repository) {
  BAWN_CHECK_OK(files.MakeDirs("refs/heads"));
  if (!repository.refs.empty()) {
    // Not "peeled": git looks tags up itself where it needs to.
    std::string packed = "# pack-refs with: sorted \n";
    for (const auto& [name, hex] : repository.refs) packed += hex + " " + name + "\n";
    BAWN_CHECK_OK(files.Write("packed-refs", packed));
  }
  for (const auto& [name, target] : repository.symbolic_refs) {
    BAWN_CHECK_OK(files.MakeDirs(name.substr(0, name.rfind('/'))));
    BAWN_CHECK_OK(files.Write(name, "ref: " + target + "\n"));
  }
  return {};
}

Result<> CopyIfExists(int from, GitFiles& files, const std::string& name) {
  std::optional<std::string> text = BAWN_TRY(ReadIfExists(from, name, kInfoFileMax));
  return text ? files.Write(name, *text) : Result<>();
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

Result<> PinIndex(int git_dir, GitFiles& files) {
  if (files.in_plan()) return files.CopyWithTime(git_dir, "index", kPlanIndexMax);
  int to = files.dirfd();
  BAWN_CHECK_OK(LinkOrCopy(git_dir, to, "index"));
  for (const std::string& name : BAWN_TRY(SharedIndexes(git_dir))) {
    BAWN_CHECK_OK(LinkOrCopy(git_dir, to, name));
  }
  return {};
}

// What belongs to one work tree: HEAD, index, sparse patterns.
Result<> WriteWorktreePart(int git_dir, GitFiles& files, const Repository& repository) {
  BAWN_CHECK_OK(files.Write("HEAD", HeadText(repository)));
  BAWN_CHECK_OK(PinIndex(git_dir, files));
  BAWN_CHECK_OK(files.MakeDirs("info"));
  return CopyIfExists(git_dir, files, "info/sparse-checkout");
}

Result<> WriteUserFile(GitFiles& files, const std::string& source, const char* name,
                       const std::string& shown_at, std::string* setting) {
  if (source.empty()) return {};
  Result<std::string> text = sys::ReadFileAt(AT_FDCWD, source, kInfoFileMax);
  if (!text) return {};  // git takes a missing or unreadable one for empty
  BAWN_CHECK_OK(files.Write(name, *text));
  *setting = shown_at + "/" + name;
  return {};
}

}  // namespace

bool IndexFitsPlan(const Repository& repository) {
  Result<UniqueFd> dir = sys::OpenDir(AT_FDCWD, repository.git_dir);
  if (!dir) return false;
  std::optional<sys::FileStat> index = sys::FindStat(dir->get(), "index");
  if (index && (!index->IsRegular() || index->size > kPlanIndexMax / 2)) return false;
  Result<std::vector<std::string>> shared = SharedIndexes(dir->get());
  return shared && shared->empty();
}

std::string LinkedName(const Repository& repository) {
  std::string prefix = repository.common_dir + "/worktrees/";
  if (!repository.git_dir.starts_with(prefix)) return {};
  std::string name = repository.git_dir.substr(prefix.size());
  return name.find('/') == std::string::npos ? name : std::string();
}

Result<> WritePrivateCommon(GitFiles& files, PrivateGit git) {
  const Repository& repository = *git.repository;
  UniqueFd host = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.common_dir));
  BAWN_CHECK_OK(files.MakeDirs("objects/info"));
  BAWN_CHECK_OK(files.MakeDirs("info"));
  // Empty, as git init leaves it: tools that install a hook write into it and do not make it.
  BAWN_CHECK_OK(files.MakeDirs("hooks"));
  std::string alternates;
  for (const std::string& path : git.alternates) alternates += path + "\n";
  BAWN_CHECK_OK(files.Write("objects/info/alternates", alternates));
  BAWN_CHECK_OK(WriteRefs(files, repository));
  for (const char* name : {"info/exclude", "info/attributes", "shallow"}) {
    BAWN_CHECK_OK(CopyIfExists(host.get(), files, name));
  }
  BAWN_CHECK_OK(WriteUserFile(files, git.excludes_file, "info/bawn.excludes", git.shown_at,
                              &git.facts.excludes));
  BAWN_CHECK_OK(WriteUserFile(files, git.attributes_file, "info/bawn.attributes", git.shown_at,
                              &git.facts.attributes));
  BAWN_CHECK_OK(files.Write("config", PrivateConfigText(git.facts, *git.config)));
  if (repository.common_dir == repository.git_dir) {
    return WriteWorktreePart(host.get(), files, repository);
  }
  if (!git.flat) return files.Write("HEAD", CommonHeadText(host.get()));
  UniqueFd own = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.git_dir));
  return WriteWorktreePart(own.get(), files, repository);
}

Result<> WritePrivateWorktree(int common_fd, const PrivateGit& git) {
  const Repository& repository = *git.repository;
  std::string place = "worktrees/" + LinkedName(repository);
  UniqueFd host = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.git_dir));
  BAWN_CHECK_OK(sys::MakeDirs(common_fd, place, 0755));
  UniqueFd to = BAWN_TRY(sys::OpenDir(common_fd, place, sys::kUntrusted));
  GitFiles files(to.get());
  BAWN_CHECK_OK(files.Write("commondir", "../..\n"));
  BAWN_CHECK_OK(CopyIfExists(host.get(), files, "gitdir"));
  return WriteWorktreePart(host.get(), files, repository);
}

}  // namespace bawn::workspace
