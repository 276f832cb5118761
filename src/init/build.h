// init/build.h
// Stage by stage from a fresh set of namespaces to a sealed sandbox.
// Threads: one. Privilege on entry: every capability in the first user namespace; on return: none.
// Decided in: policy/compile. Enforced by: the kernel, step by step.
// Recorded as: the layers of Ready.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "contain/seccomp.h"
#include "plan/plan.h"
#include "wire/control.h"

namespace bawn::init {

struct Built {
  std::vector<wire::LayerFact> layers;
  UniqueFd file_ruleset;   // of every job's Landlock domain
  UniqueFd scope_ruleset;  // of every job's guard; invalid without job domains
  std::span<const contain::BpfInstruction> filter;  // of every job
  UniqueFd oom_score_adj;                           // of pid 1, read and write
  std::string devpts;                               // where; empty: no pty can be made
};

// `stage` names the step under way: on failure that is SetupFailed's stage.
Result<Built> Build(const plan::Plan& plan, std::vector<UniqueFd> slots, std::string* stage);

}  // namespace bawn::init
