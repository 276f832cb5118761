// publish/apply.h
// Changes -> the user's tree, per path, crash-safe and resumable (RT-24), and back again (--undo).
// The caller holds the sandbox's lock; the tree's lock is taken here. Whatever a kill -9 left of an
// earlier apply on the same tree is taken up first, whichever sandbox it came from.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "publish/actions.h"
#include "publish/apply_run.h"
#include "publish/lock.h"
#include "workspace/changes.h"
#include "workspace/state.h"

namespace bawn::publish {

struct ApplyContext {
  const workspace::StateDir& state;
  const workspace::SandboxDir& dir;  // locked
  workspace::SandboxMeta& meta;      // kept up to date, written through
  StepHook step = [] {};
};

struct Applied {
  uint64_t written = 0, deleted = 0;  // files and links; directories apart
  uint64_t directories = 0;
  struct Left {
    std::string path, why;
  };
  std::vector<Left> left;  // diverged, failed, not empty
  bool ended = false;      // the sandbox: everything was carried out
};

// `covers_all`: after this nothing of the sandbox is pending.
Result<Applied> Apply(const ApplyContext& context, const workspace::ChangeSet& set,
                      const std::vector<Chosen>& chosen, bool covers_all);

// Puts back what the newest apply of this sandbox replaced, where the tree still holds what it
// wrote; `left` names the rest. kFailedPrecondition when there is none, or a later apply on the
// same tree came from another sandbox.
Result<Applied> Undo(const ApplyContext& context);

JsonArray LeftToJson(const Applied& applied);  // [{path, why}]

// Takes up whatever was cut short on the sandbox's tree, and an end of the sandbox itself. Before
// anything is read for an act.
Result<> Recover(const ApplyContext& context);
// The same under a lock that is held already.
Result<> RecoverTree(const ApplyContext& context, const TreeLock& lock, int root_fd);

}  // namespace bawn::publish
