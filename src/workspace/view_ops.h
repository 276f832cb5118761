// workspace/view_ops.h
// The mounts that make an opened workspace appear, from what its meta.json remembers: the same for
// opening and for opening again.
#pragma once

#include "base/result.h"
#include "plan/facts.h"
#include "workspace/state.h"

namespace bawn::workspace {

// Needs: the sandbox's directory as the opening left it. The tree's identity is part of the ops, so
// a tree swapped before the mount is refused there.
Result<plan::WorkspaceFacts> ViewOf(const SandboxDir& dir, const SandboxMeta& meta);

// Where nothing can be mounted (level restricted): the copy where it lies.
plan::WorkspaceFacts PrivateViewOf(const SandboxDir& dir, const SandboxMeta& meta);

}  // namespace bawn::workspace
