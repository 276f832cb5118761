// plan/facts.h
// What service/ and workspace/ found out about the host, as values for the pure rooms: policy/
// compiles a Plan from these and never looks at the machine itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace bawn::plan {

enum class PathKind : uint8_t { kMissing, kFile, kDirectory, kSymlink, kOther };

struct PathFact {
  PathKind kind = PathKind::kMissing;
  std::string link_target;  // kSymlink: one level
  std::string content;      // small files that the view copies, when asked for
  uint32_t uid = 0;
  uint64_t dev = 0;
  uint64_t ino = 0;
};

// Paths that policy::PathsToProbe() named, each looked at once, without following the last link.
struct HostFacts {
  std::map<std::string, PathFact> paths;
  std::string user_name;
  std::string home;  // absolute, symlinks resolved; empty when there is none
  std::string shell;
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::vector<std::pair<uint32_t, std::string>> groups;  // every group `id` shows
  uint64_t memory_bytes = 0;
  std::vector<std::string> environment;  // "NAME=value" of the caller
  std::string cwd;                       // absolute, symlinks resolved
};

// What workspace::Open gave: the mounts that make the tree appear at its real path.
struct WorkspaceFacts {
  std::string path;  // real path, also its path in the view
  std::string mode = "live";
  std::string rung;                   // "overlay" | "reflink" | "copy" | "in_place"
  bool in_memory = false;             // the changes are held in memory, and are nobody's afterwards
  std::vector<Op> ops;                // overlays (and binds of git objects), in order
  std::vector<std::string> writable;  // view paths that the job may write: the tree, its git dir
  std::vector<std::string> readable;  // more view paths to read (git objects of alternates)
};

}  // namespace bawn::plan
