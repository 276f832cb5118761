// workspace/ladder.h
// overlay -> reflink copy -> plain copy: can the user's tree be the lower of an overlay, and if
// not, why (RT-16, RT-17, RT-35; cases O-09, O-10)? Decided before the run from what can be seen:
// kinds of file systems, mounts below the root, owners. What only the mount itself would tell is
// not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/scan.h"

namespace bawn::workspace {

// One reason why an overlay will not do, for the note, and the way to make it do.
struct CopyReason {
  std::string why;
  std::string remedy;
};

struct LadderInput {
  int root_fd = -1;
  std::string root;
  int sandbox_fd = -1;  // where the upper would be; -1: in memory, which is known to hold one
  uint32_t uid = 0, gid = 0;
  const ScanResult* scan = nullptr;
};

// Empty: overlay. Refusals (not copyable either) are errors: RT-35's attributes on the root, a
// mount below the root that is no plain file system.
Result<std::vector<CopyReason>> ReasonsToCopy(const LadderInput& input);

// Mount points strictly below `root`, with their file system types, from the text of
// /proc/self/mountinfo (proc(5)).
struct Submount {
  std::string path, type;
};
std::vector<Submount> SubmountsBelow(std::string_view mountinfo, std::string_view root);

}  // namespace bawn::workspace
