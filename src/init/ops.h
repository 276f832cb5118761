// init/ops.h
// Carries out the Plan's ops, one by one, in order. Decided in: policy/compile. Enforced by: the
// kernel, per mount. Recorded as: the layers "mounts" and "pidns" of Ready, and one fact per
// optional op left out.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "init/tree.h"
#include "plan/plan.h"
#include "wire/control.h"

namespace bawn::init {

struct OpContext {
  Tree* tree = nullptr;
  std::vector<UniqueFd>* slots = nullptr;  // what Source::fd_slot names: detached mounts
  std::set<int32_t> hidden_slots;          // attached outside the view, as layers of overlays
  UniqueFd proc;                           // the root of the fresh proc, when there is one
  std::string proc_target;                 // where it stands
  std::string proc_error;                  // why there is none (a masked /proc outside: RT-36)
  std::string devpts;                      // where the devpts instance stands, empty: none
  std::vector<wire::LayerFact> left_out;   // optional ops that failed
};

// An error names the op's call and object; "the tree was swapped" when a source is not the inode
// that the Plan names.
Result<> CarryOut(const plan::Op& op, OpContext* context);

}  // namespace bawn::init
