// plan/gates.h
// Which changed paths run by themselves on the host (an explicit yes at publish and apply) and
// which run when someone builds (shown apart). Text: policy/gates.txt; the table is compiled in
// here. Judged on the final path of the result, whether or not it existed before (case O-12).
#pragma once

#include <cstdint>
#include <string_view>

namespace bawn::plan {

enum class GateKind : uint8_t {
  kNone,
  kRunsByItself,  // hooks, .envrc, editor tasks, agent settings, CI definitions
  kRunsOnBuild,   // Makefile, build.rs, conftest.py …
  kNever,         // aliases of .git, bare repositories: refused whatever is said
};

struct GateVerdict {
  GateKind kind = GateKind::kNone;
  std::string_view rule_id;  // static storage
  std::string_view reason;
};

// `path` is relative to the workspace, '/'-separated bytes. Also catches case-folding, NTFS and HFS
// aliases of ".git" (CVE-2014-9390, CVE-2019-1352, CVE-2019-1353). Pure and quick: one call per
// changed path.
GateVerdict JudgePath(std::string_view path);
bool IsDotGitAlias(std::string_view component);

// The verdict on the members of a directory that git would take for a bare repository: git run in
// there obeys its config (RT-24). Whether it looks like one is found out in review/, which sees the
// whole result.
GateVerdict BareRepositoryVerdict();

// A symlink that is absolute, leads out of the workspace or into a .git: needs a yes (RT-24).
// Judged by its text alone: `target` as stored in the link at `path`.
GateVerdict JudgeSymlink(std::string_view path, std::string_view target);

// Files whose gate depends on what changed in them: package.json, composer.json and .gitattributes.
// kNone when nothing that runs by itself differs, or when the file is no such file; a file that
// cannot be parsed counts as changed. Either content may be empty (absent).
bool HasContentGate(std::string_view path);
GateVerdict JudgeContent(std::string_view path, std::string_view before, std::string_view after);

// package.json and its kin: true when a lifecycle key of the file differs between the two contents
// (either may be empty).
bool LifecycleChanged(std::string_view path, std::string_view before, std::string_view after);

}  // namespace bawn::plan
