// contain/probe.h
// What this machine can do, found by doing it at the call; never cached, never by version. A probe
// that errors is `unknown` with its errno and counts as a failure.
// Used by: `bawn doctor`. A run does not ask here: it measures its own walls (contain/canary.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "contain/subids.h"
#include "plan/level.h"

namespace bawn::contain {

struct ProbeFact {
  std::string name;    // "userns", "overlay_userxattr", "landlock", "seccomp", "proc", …
  std::string state;   // "ok" | "missing" | "unknown"
  std::string detail;  // "ABI 7", "clone3: EPERM"
  std::string remedy;  // exact words; never "switch the kernel protection off"
};

struct ProbeReport {
  std::vector<ProbeFact> facts;
  plan::Level highest = plan::Level::kNone;  // what the facts prove
};

struct ProbeOptions {
  // Where overlays of kept workspaces will have their upper; empty: that fact is left out. Made
  // files are removed again.
  std::string state_dir;
  SubIdFiles subids;  // root mode
};

// Forks children that try each feature; leaves nothing behind. Single-threaded callers only.
// As root also what root mode needs ("subuid", "idmapped_mounts"). Takes some 50 ms.
Result<ProbeReport> ProbeMachine(const ProbeOptions& options = {});

// The level that a set of facts proves; pure.
//   restricted  landlock, seccomp
//   isolated    + the namespaces, the view and their locks
//   bounded     + cgroup
// With a fact "subuid" (root) that is not ok: none, since root mode then starts nothing.
plan::Level HighestLevel(const std::vector<ProbeFact>& facts);

// ---- Why user namespaces may be refused here, as values, so that every remedy has a test.

struct NamespaceHints {
  std::string apparmor;  // kernel.apparmor_restrict_unprivileged_userns; empty: no such sysctl
  bool container = false;
  bool chroot = false;
  std::string closed_by;  // a sysctl with which the administrator refuses them; empty: none
};
std::string NamespaceRemedy(const NamespaceHints& hints);
// The restriction itself is no failure: with the profile loaded, namespaces work under it.
ProbeFact AppArmorFact(const NamespaceHints& hints, const ProbeFact& userns);

}  // namespace bawn::contain
