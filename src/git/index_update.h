// git/index_update.h
// The index of a work tree, moved to a new commit in the touched paths only, under git's own lock:
//   1. a copy, changed and complete, waits beside the index under a name of its own
//   2. that file is linked to index.lock: from here on git waits, or says that another is at work
//   3. index.lock is renamed to index, or taken away
// The inode of step 1 is what a recovery knows its own lock by; a lock of somebody else is never
// touched. Entries are written without times, so git looks at the files once more by itself.
// Split and sparse indexes, which libgit2 1.5 cannot write, are refused by name.
// Source: gitformat-index(5), api-lockfile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "git/repo.h"

namespace bawn::git {

struct IndexChange {
  std::string path;
  std::optional<TreeEntry>
      expected;  // what the index must hold: the base commit's; absent: nothing
  FileMode mode = FileMode::kFile;
  Oid oid;  // empty: removed
};

// Step 1. `name` is a file name in `git_dir` (one left over is replaced). kFailedPrecondition with
// rule "git.index_staged" names a path that the index holds differently (staged by the user, or in
// the middle of a merge).
Result<uint64_t> PrepareIndex(const std::string& git_dir, const std::string& name,
                              const std::vector<IndexChange>& changes);

// Step 2. kConflict when index.lock exists, or the index was written since step 1.
Result<> LockIndex(const std::string& git_dir, const std::string& name);

// Step 3, and what is left of step 1; may be repeated. `inode` is that of PrepareIndex.
Result<> FinishIndex(const std::string& git_dir, const std::string& name, uint64_t inode);
Result<> AbandonIndex(const std::string& git_dir, const std::string& name, uint64_t inode);

}  // namespace bawn::git
