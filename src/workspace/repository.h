// workspace/repository.h
// A small, read-only reader of git's own files on the host: enough to find the repository of a
// directory, its HEAD, refs and object directories, without running git and without libgit2 (which
// costs 9 ms of start-up). It reads the *trusted* repository only, at open, before anything ran.
// Source: gitrepository-layout(5), git-worktree(1), gitsubmodules(7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace bawn::workspace {

struct Repository {
  std::string work_tree;   // top of the work tree, real path
  std::string git_dir;     // of this work tree, real path
  std::string common_dir;  // == git_dir but in a linked worktree
  bool dot_git_is_file = false;
  std::string head_ref;                                   // "refs/heads/main"; empty when detached
  std::string head_commit;                                // hex; empty when unborn
  std::vector<std::pair<std::string, std::string>> refs;  // name, hex; HEAD not among them
  std::vector<std::string>
      object_dirs;  // own first, then the whole chain of alternates, real paths
  // Refs whose value is another ref ("refs/remotes/origin/HEAD", "refs/remotes/origin/main").
  std::vector<std::pair<std::string, std::string>> symbolic_refs;
  std::vector<std::string> missing_alternates;  // entries of the chain that name no directory
  std::string unsupported;  // "sha256", "reftable", "extension foo": apply still works; else empty
  bool sha256 = false;      // the only one of these that works inside
  bool worktree_config = false;  // extensions.worktreeConfig: <git_dir>/config.worktree counts
  std::vector<std::string> in_progress;  // "merge", "rebase", …: not carried into the private copy
  struct Submodule {
    std::string path;     // relative to work_tree
    std::string git_dir;  // real path
  };
  std::vector<Submodule> submodules;  // populated ones, all depths, by .gitmodules; parents first
};

// Searches `directory` and its parents (not across a mount the way git does: GIT_DISCOVERY
// default). Absent: not in a work tree. An unreadable or malformed repository is an error that
// names the file; one that belongs to another user is kPermissionDenied (what git's safe.directory
// guards against: its config would decide what we and git do); for root too (root.foreign_tree).
Result<std::optional<Repository>> FindRepository(const std::string& directory);

// What root says to a tree or repository of `owner` (docs/adr/0010).
std::unexpected<Error> RefuseForeignTree(const std::string& path, uint32_t owner);

// The identity git reports in that repository on the host: includes, conditional includes (gitdir,
// gitdir/i, onbranch), worktree config, GIT_* environment (E-17). Absent names are empty.
struct Identity {
  std::string name, email;
};
struct GitConfig {
  // "core.autocrlf", value; in git's order, so the last wins. A key without a value has "true".
  // include.* and includeIf.* are resolved and not among them.
  std::vector<std::pair<std::string, std::string>> entries;
  std::optional<std::string> Get(const std::string& key) const;
};
// Errors name file and line as git does. `home` is HOME; `environment` is "NAME=value" of the
// caller.
Result<GitConfig> ReadGitConfig(const std::optional<Repository>& repository,
                                const std::string& home,
                                const std::vector<std::string>& environment);
Identity AuthorIdentity(const GitConfig& config, const std::vector<std::string>& environment);

}  // namespace bawn::workspace
