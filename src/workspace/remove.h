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
// directory) and keeps its meta.json, receipts, output and apply journal. May be repeated.
Result<> RemoveChanges(const SandboxDir& dir);

}  // namespace bawn::workspace
