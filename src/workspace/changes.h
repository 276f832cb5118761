// workspace/changes.h
// What a sandbox changed: a walk of its upper layer (or, on the copy rungs, a comparison with the
// tree), descriptor-relative, following nothing. Cost follows the changes, not the tree. Names are
// bytes. Copied up but equal is no change (E-30).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workspace/state.h"

namespace bawn::workspace {

enum class ChangeKind : uint8_t { kAdded, kModified, kDeleted };
enum class EntryType : uint8_t { kNone, kFile, kSymlink, kDirectory, kSpecial };

// One changed path. `old_*` is what the base shows at that path now; `new_*` what the sandbox has.
struct Change {
  std::string path;  // relative to the workspace
  ChangeKind kind = ChangeKind::kModified;
  EntryType old_type = EntryType::kNone;
  EntryType new_type = EntryType::kNone;
  uint32_t old_mode = 0, new_mode = 0;  // permission bits
  uint64_t old_size = 0, new_size = 0;
  std::string new_sha256;  // files: of the content; symlinks: of the target; else empty
  bool diverged = false;   // RT-09: the base changed after T; may not be overwritten
  std::string problem;     // "unreadable", "special_file", …: cannot be published; empty
};

// Where a change's bytes are read from: the upper layer and the user's tree, held by descriptor.
struct ChangeSet {
  std::vector<Change> changes;  // sorted by path bytes; directories only where new and empty, or removed
  UniqueFd upper;               // root of the new bytes
  UniqueFd lower;               // the user's tree
  std::string digest;           // over (path, kind, type, mode & 0111, sha256) of all changes
  bool base_changed_since_open = false;  // any lower ctime >= T was met (for the header of diff)
  uint64_t copied_up_bytes = 0;
};

struct ReadOptions {
  bool hash = true;      // false: names only, digest empty
  uint64_t changes_max = 2'000'000;
};
// Reads modes 000 by the owner's right and puts the mode back; the recorded mode is the original.
Result<ChangeSet> ReadChanges(const SandboxDir& dir, const SandboxMeta& meta,
                              const ReadOptions& options);

// File errors of DESIGN 8 carry `kind`: not_found, not_a_directory, is_a_directory, symlink,
// special_file, read_limit, denied, changed_while_reading.
Result<UniqueFd> OpenNew(const ChangeSet& set, const Change& change);  // regular files
Result<UniqueFd> OpenOld(const ChangeSet& set, const Change& change);
Result<std::string> ReadNew(const ChangeSet& set, const Change& change, uint64_t bytes_max);
Result<std::string> ReadOld(const ChangeSet& set, const Change& change, uint64_t bytes_max);

}  // namespace bawn::workspace
