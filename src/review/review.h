// review/review.h
// From a ChangeSet to what a person reviews: what git would commit after its own conversions,
// ignored-but-changed paths counted, uncommitted base changes apart, gated paths named.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "git/repo.h"
#include "plan/gates.h"
#include "workspace/changes.h"

namespace bawn::review {

struct Reviewed {
  workspace::Change change;
  std::string old_path;        // renames: where it came from; else empty
  uint32_t old_git_mode = 0, new_git_mode = 0;  // 0: absent
  git::Oid old_oid, new_oid;   // blob ids after conversion; empty where not computed
  bool ignored = false;        // by the base's rules: not published, counted
  bool dirty_base = false;     // contains the user's uncommitted changes (RT-09)
  bool in_commit = false;      // would be part of a publish
  plan::GateVerdict gate;
  std::string refused;         // publish of this path is refused: reason with the driver's name
  uint64_t lines_added = 0, lines_removed = 0;  // --stat
  bool binary = false;
};

struct Review {
  std::vector<Reviewed> paths;
  std::string digest;          // the changes digest that publish and apply take
  uint64_t ignored_count = 0;
  std::vector<std::string> base_dirty;  // the user's own uncommitted paths, shown apart
  bool base_changed_since_open = false;
};

struct ReviewOptions {
  bool names_only = false;     // no conversion, no oids, no line counts
  bool stat = false;
  std::vector<std::string> paths;  // limit to these prefixes; empty: all
};

// `repo` absent: a directory that is no repository; then nothing is ignored and old bytes are the
// tree's.
Result<Review> MakeReview(const workspace::ChangeSet& set, const workspace::SandboxMeta& meta,
                          git::Repo* repo, const ReviewOptions& options);

struct RenderOptions {
  bool colour = false;
  bool terminal = false;       // escape content and names for a terminal
  bool include_ignored = false;
};
// Unified patch text, git's format (renames, modes, binary, symlinks), written to `fd`.
Result<> RenderPatch(const Review& review, const workspace::ChangeSet& set, git::Repo* repo,
                     const workspace::SandboxMeta& meta, const RenderOptions& options, int fd);
Result<> RenderStat(const Review& review, const RenderOptions& options, int fd);
Json ToJson(const Review& review);

}  // namespace bawn::review
