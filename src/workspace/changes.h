// workspace/changes.h
// What a sandbox changed: a walk of its upper layer (or, on the copy rungs, a comparison with the
// tree), descriptor-relative, following nothing. Cost follows the changes, not the tree. Names are
// bytes. Copied up but equal is no change (E-30).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  // Permission bits with setuid, setgid and sticky as the payload set them, for people to see:
  // nothing carries more than `& 0777` out, and a difference only above that is no change.
  uint32_t old_mode = 0, new_mode = 0;
  uint64_t old_size = 0, new_size = 0;
  std::string new_sha256;  // files: of the content; symlinks: of the target; else empty
  bool diverged = false;   // RT-09: the base changed after T; may not be overwritten
  // Cannot be published or applied; empty, or one of "unreadable", "special_file", "protected" (a
  // protected path that the view had covered), "changed_while_reading", "path_too_long".
  std::string problem;
  // Files: the very bytes that new_sha256 was made of, where the total of them is small enough.
  std::shared_ptr<const std::string> new_bytes;
};

// Where a change's bytes are read from: the upper layer and the user's tree, held by descriptor.
struct ChangeSet {
  // Sorted by path bytes. Directories only where new and empty, removed, or where they took or lost
  // the place of something else (old_type and new_type differ); a removed directory comes with
  // every path that was below it.
  std::vector<Change> changes;
  UniqueFd upper;      // root of the new bytes
  UniqueFd lower;      // the user's tree
  std::string digest;  // over (path, kind, type, mode, sha256, problem) of all changes
  bool base_changed_since_open = false;  // any lower ctime >= T was met (for the header of diff)
  uint64_t copied_up_bytes = 0;          // in the layer, but equal to the base (E-30)
};

struct ReadOptions {
  bool hash = true;  // false: names only, digest empty
  uint64_t changes_max = 2'000'000;
};
// Reads modes 000 by the owner's right and puts the mode back; the recorded mode is the original.
// What an earlier partial publish or apply carried out (workspace/remembered.h) is not listed
// again. kNotFound when the sandbox has no layer any more; kFailedPrecondition when the user's tree
// is gone or another directory stands in its place. Errors of single files are the `problem` of
// their change.
Result<ChangeSet> ReadChanges(const SandboxDir& dir, const SandboxMeta& meta,
                              const ReadOptions& options);

// File errors of DESIGN 8 carry `kind`: not_found, not_a_directory, is_a_directory, symlink,
// special_file, read_limit, denied, changed_while_reading.
Result<UniqueFd> OpenNew(const ChangeSet& set, const Change& change);  // regular files
Result<UniqueFd> OpenOld(const ChangeSet& set, const Change& change);
// Content of regular files; of a symlink (by the change's type on that side) its target.
Result<std::string> ReadNew(const ChangeSet& set, const Change& change, uint64_t bytes_max);
Result<std::string> ReadOld(const ChangeSet& set, const Change& change, uint64_t bytes_max);

std::string_view ChangeKindName(ChangeKind kind);  // "added", "modified", "deleted"
std::string_view EntryTypeName(
    EntryType type);  // "none", "file", "symlink", "directory", "special"
// sha256 over a canonical binary encoding of changes sorted by path; needs hashes.
std::string DigestOf(const std::vector<Change>& changes);

}  // namespace bawn::workspace
