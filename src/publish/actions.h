// publish/actions.h
// From changes to the actions of a journal, and from a finished journal to the actions that take it
// back. Nothing is written here; what stands at each path now is noted as what must be there when
// the action's turn comes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "publish/apply_run.h"
#include "publish/journal.h"
#include "publish/merge.h"
#include "workspace/changes.h"

namespace bawn::publish {

// A change that is to be carried out, and whether the user named it although the tree had changed
// around its (absent) name.
struct Chosen {
  const workspace::Change* change = nullptr;
  bool consented = false;
  const Merged* merged = nullptr;  // written instead of what the sandbox has
};

// `chosen` is sorted by path and holds nothing with a problem. Missing parents are made with the
// modes the sandbox gave them; no file or directory gets a permission that `umask_bits` refuses and
// the old one did not have. kConflict when the tree is not what the changes were read against.
Result<std::vector<Action>> MakeActions(const workspace::ChangeSet& set,
                                        const std::vector<Chosen>& chosen, uint32_t umask_bits);

struct UndoPlan {
  std::vector<Action> actions;
  std::vector<size_t> sources;    // per action: its number in the journal (old/N of a kPut)
  std::vector<std::string> left;  // paths where the tree no longer holds what apply wrote
};
Result<UndoPlan> MakeUndo(int root_fd, const Journal& journal);

}  // namespace bawn::publish
