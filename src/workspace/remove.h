// workspace/remove.h
// What is left over by an end that was cut short. RemoveTree and RemoveSandboxDir themselves are in
// state.h.
#pragma once

#include "base/result.h"
#include "workspace/state.h"

namespace bawn::workspace {

// A sandbox directory is renamed to this prefix + id before it is emptied, so a kill -9 in between
// leaves a name that no listing takes for a sandbox.
inline constexpr char kRemovingPrefix[] = ".removing_";

// Finishes removals that a kill -9 cut short. Call with no sandbox lock held; two sweeps at once
// are harmless.
Result<> SweepRemoved(const StateDir& state);

// Drops what a sandbox changed (its layers, what Bawn put in the workspace, its private git
// directory; also where EndChanges has set it aside) and keeps its meta.json, receipts, output and
// apply journal. May be repeated.
Result<> RemoveChanges(const SandboxDir& dir);

// What a publish that was cut short before its note leaves in the git directory under the sandbox's
// name: a pack, an object for the LFS store and an index that were not complete. Nobody looks for
// them. May be repeated.
Result<> RemoveGitTemporaries(const SandboxMeta& meta);

// The end of a sandbox whose meta.json says so already: its pin goes, then its changes are set
// aside, where nobody finds them, then what publish noted about itself goes. May be repeated, also
// by a later command after a kill -9. RemoveEnded follows, at once or after the answer.
Result<> EndChanges(const SandboxDir& dir, const SandboxMeta& meta);
// Removes what was set aside, once the disk has the meta.json that says why. May be repeated.
Result<> RemoveEnded(const SandboxDir& dir);

// meta.json's `state` after publish, apply and discard.
inline constexpr char kPublished[] = "published";
inline constexpr char kApplied[] = "applied";
inline constexpr char kDiscarded[] = "discarded";
bool IsEnded(const std::string& state);

// In the sandbox's directory: kept changes that are not known to be on disk; a publish under way.
inline constexpr char kDurablePending[] = "durable.pending";
inline constexpr char kPublishing[] = "publishing.json";

}  // namespace bawn::workspace
