// workspace/private_git.h
// Writes a private git directory: what git inside works on instead of the user's. Own config, HEAD,
// refs and index; objects only through alternates; no hooks, no logs, nothing that runs, no
// credential (RT-04, RT-18). The host's git directory is read, and its index hard-linked.
// NOT carried over: reflogs (so stashes lose their list), merges and rebases in progress, LFS
// objects, rerere. Staged blobs stay in the host's store only.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/git_files.h"
#include "workspace/private_config.h"
#include "workspace/repository.h"

namespace bawn::workspace {

struct PrivateGit {
  const Repository* repository = nullptr;
  const GitConfig* config = nullptr;
  PrivateConfig facts;   // attributes and excludes are filled in here
  bool flat = false;     // a linked work tree or submodule written as a plain `.git` directory
  std::string shown_at;  // path of the common directory in the view
  std::vector<std::string> alternates;  // object directories as the view names them
  // The user's own ignore and attribute files, which the view's home does not have: their text
  // comes along, else git inside would show what the user's git does not. Empty: none.
  std::string excludes_file, attributes_file;
};

// Everything of an empty directory. When the repository's work tree is a linked one, the common
// part only.
Result<> WritePrivateCommon(GitFiles& files, PrivateGit git);
// worktrees/<name> of a linked work tree below the common part.
Result<> WritePrivateWorktree(int common_fd, const PrivateGit& git);

// Is its index small enough to be carried as text, and one file? Then GitFiles may put it into a
// Plan; else it is linked, at no cost.
bool IndexFitsPlan(const Repository& repository);

// The name below worktrees/; empty when the repository is not a linked work tree of that shape.
std::string LinkedName(const Repository& repository);

}  // namespace bawn::workspace
