// publish/intent.h
// What a publish is about to do, noted beside meta.json before the ref moves and taken away when
// everything after it is done: a recovery finds the ref at `commit` and goes on, or elsewhere and
// forgets. <state>/sb/<id>/publishing.json
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/repo.h"
#include "publish/finish.h"
#include "workspace/state.h"

namespace bawn::publish {

struct Intent {
  std::string ref, commit;
  bool covers_all = false;   // the sandbox ends with it
  bool update_tree = false;  // index and tree move too
  git::Oid inside_tip;       // the commit inside that is now this one outside
  uint64_t index_inode = 0;  // of the prepared index (git/index_update.h)
  std::vector<CarriedPath> carried;
  int64_t written_at_ns = 0;  // when it was noted; set by ReadIntent
};

bool HasIntent(const workspace::SandboxDir& dir);
Result<std::optional<Intent>> ReadIntent(const workspace::SandboxDir& dir);
Result<> WriteIntent(const workspace::SandboxDir& dir, const Intent& intent);
Result<> RemoveIntent(const workspace::SandboxDir& dir);

}  // namespace bawn::publish
