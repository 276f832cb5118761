// publish/tree.h
// The tree of a publish, bottom-up from the tree of its parent: only directories that hold a change
// are read and written anew.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "git/repo.h"

namespace bawn::publish {

struct TreeChange {
  std::string path;
  git::FileMode mode = git::FileMode::kFile;
  git::Oid oid;  // empty: removed
};

// `base_tree` empty: from nothing. A directory left without entries is left out; the root may be
// the empty tree. kFailedPrecondition when something is added below what is a file in the base and
// stays one (its own change was not selected).
Result<git::Oid> BuildTree(git::Repo& repo, const git::Oid& base_tree,
                           const std::vector<TreeChange>& changes);

}  // namespace bawn::publish
