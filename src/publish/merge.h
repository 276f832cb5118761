// publish/merge.h
// Paths that the user changed too since the sandbox opened, merged three-way on request (DESIGN 6):
// what the base commit has, what the user's tree has now, what the sandbox has. A merge that would
// need markers is a conflict, and that path is refused by name. Merged as git stores it, line ends
// converted back for the tree.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/repo.h"
#include "review/content.h"
#include "review/review.h"

namespace bawn::publish {

struct Merged {
  std::string blob;  // what a commit gets
  std::string file;  // what the tree gets
  git::FileMode git_mode = git::FileMode::kFile;
  uint32_t mode = 0;  // & 0777
};

struct Merges {
  std::map<std::string, Merged> done;
  std::map<std::string, std::string> conflicts;  // path -> why
};

// Looks at diverged paths that are regular files, tracked, and nobody's filter's.
Result<Merges> MergeDiverged(const review::Source& source, const review::Review& review);

}  // namespace bawn::publish
