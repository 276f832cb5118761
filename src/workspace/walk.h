// workspace/walk.h
// The walk behind ReadChanges: the layer, the user's tree and what Bawn itself put in, side by
// side, one component at a time by descriptor (O_NOFOLLOW), so a link is never a way anywhere.
// Depth is bounded by the length of a path, not by descriptors: only the deepest levels hold
// theirs, the others are opened again by one openat2(BENEATH | NO_SYMLINKS) and must be the same
// directory.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workspace/changes.h"
#include "workspace/divergence.h"
#include "workspace/owner_open.h"
#include "workspace/remembered.h"

namespace bawn::workspace {

inline constexpr size_t kPathBytesMax = 4095;  // PATH_MAX without its NUL

// How a directory of the layer relates to the one below it.
enum class DirMode : uint8_t {
  kMerged,    // the layer holds only what differs
  kReplaced,  // the layer holds everything (opaque, or a copy): what it lacks is deleted
  kNew,       // nothing below
  kGone,      // only the lower has it: everything is deleted
};

struct WalkInput {
  int upper_fd = -1;
  int lower_fd = -1;
  int initial_fd = -1;  // -1: nothing was put in
  bool whole_copy = false;
  int64_t copied_at_ns = 0;  // a copy older than this by ctime was not touched; 0: unknown
  const std::unordered_set<std::string>* covered = nullptr;
  const Divergence* divergence = nullptr;
  const Remembered* remembered = nullptr;
  ReadOptions options;
};

struct WalkOutput {
  std::vector<Change> changes;  // unsorted
  bool base_changed = false;
  uint64_t copied_up_bytes = 0;
};

Result<WalkOutput> WalkChanges(const WalkInput& input);

}  // namespace bawn::workspace
