// review/review.h
// From a ChangeSet to what a person reviews: what git would commit after its own conversions,
// ignored-but-changed paths counted, uncommitted base changes apart, gated paths named.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "git/repo.h"
#include "plan/gates.h"
#include "workspace/changes.h"

namespace bawn::review {

// One changed path. The old side is what the user's tree holds now, as git would store it: for a
// clean path that is the base commit's blob. What a publish compares with is the base commit
// itself.
struct Reviewed {
  workspace::Change change;  // `diverged` is cleared where RT-09 lets the repository clear it
  std::string old_path;      // renames: where it came from; else empty
  std::string new_path;      // a deletion that is the source of a rename: where it went
  uint32_t similarity = 0;   // renames: percent
  uint32_t old_git_mode = 0, new_git_mode = 0;  // 0: absent (or nothing git stores, a directory)
  git::Oid old_oid, new_oid;  // blob ids after conversion; empty where not computed
  // What new_oid was made of, where the change's own bytes were kept: converted, or the same ones.
  std::shared_ptr<const std::string> new_blob;
  bool ignored = false;     // by the base's rules: not published, counted
  bool dirty_base = false;  // contains the user's uncommitted changes (RT-09)
  // Would be part of a publish; with `dirty_base` only under --include-dirty. Never set together
  // with `ignored`, `refused` or a gate of kind kNever.
  bool in_commit = false;
  plan::GateVerdict gate;
  bool lfs = false;          // stored as a pointer, the content goes to the LFS store
  std::string refused;       // publish of this path is refused: reason with the driver's name
  std::string refused_rule;  // "publish.lfs", "publish.filter", "publish.submodule", …
  std::string note;          // said beside the path: line ends that a checkout would change
  uint64_t lines_added = 0, lines_removed = 0;  // --stat
  bool binary = false;  // --stat: not counted (binary, or over the ceilings of git/diff.h)
};

struct Review {
  std::vector<Reviewed> paths;  // sorted by path; ignored ones are among them
  std::string digest;           // the changes digest that publish and apply take
  uint64_t ignored_count = 0;
  std::vector<std::string> base_dirty;  // changed paths that hold the user's own uncommitted work
  // Changed on disk, but the same for git (line ends, a mode under core.fileMode=false): in no
  // diff, no publish and no apply.
  std::vector<std::string> equal;
  bool base_changed_since_open = false;
};

struct ReviewOptions {
  bool names_only = false;  // no conversion, no oids, no line counts, no renames, nothing dropped
  bool stat = false;
  bool lfs = false;  // files of Git LFS become pointers (--lfs); else publish of them is refused
  std::vector<std::string> paths = {};  // limit to these prefixes; empty: all
};

// A file larger than this is not converted in memory: publish of it is refused by name.
inline constexpr uint64_t kFileBytesMax = 512 << 20;

// `repo` absent: a directory that is no repository; then nothing is ignored and old bytes are the
// tree's. Content that is no longer what the ChangeSet hashed is kConflict, kind
// "changed_while_reading" (RT-15).
Result<Review> MakeReview(const workspace::ChangeSet& set, const workspace::SandboxMeta& meta,
                          git::Repo* repo, const ReviewOptions& options);

struct RenderOptions {
  bool colour = false;
  bool terminal = false;  // escape content and names for a terminal
  bool include_ignored = false;
};
// Unified patch text, git's format (renames, modes, binary, symlinks), written to `fd`. `git apply`
// takes it, but for binary files. Notes (uncommitted, gated, refused) stand between the files as
// lines that start with '#', which git apply and patch skip.
Result<> RenderPatch(const Review& review, const workspace::ChangeSet& set, git::Repo* repo,
                     const workspace::SandboxMeta& meta, const RenderOptions& options, int fd);
Result<> RenderStat(const Review& review, const RenderOptions& options, int fd);
Json ToJson(const Review& review);

}  // namespace bawn::review
