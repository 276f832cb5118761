// plan/gates.h
// Which changed paths run by themselves on the host (an explicit yes at publish and apply) and which
// run when someone builds (shown apart). Text: policy/gates.txt; the table is compiled in here.
// Judged on the final path of the result, whether or not it existed before (cases.md O-12).
#pragma once

#include <cstdint>
#include <string_view>

namespace bawn::plan {

enum class GateKind : uint8_t {
  kNone,
  kRunsByItself,   // hooks, .envrc, editor tasks, agent settings, CI definitions
  kRunsOnBuild,    // Makefile, build.rs, conftest.py …
  kNever,          // aliases of .git, bare repositories: refused whatever is said
};

struct GateVerdict {
  GateKind kind = GateKind::kNone;
  std::string_view rule_id;  // static storage
  std::string_view reason;
};

// `path` is relative to the workspace, '/'-separated bytes. Also catches case-folding, NTFS and HFS
// aliases of ".git".
GateVerdict JudgePath(std::string_view path);
bool IsDotGitAlias(std::string_view component);

// package.json and its kin: true when a lifecycle key of the file differs between the two contents
// (either may be empty).
bool LifecycleChanged(std::string_view path, std::string_view before, std::string_view after);

}  // namespace bawn::plan
