// init/job.h
// One job's main process, from fork to exec: what it puts on, in order, and what it says on the
// way. It reports on `channel`, a SOCK_SEQPACKET socket that exec closes: one JobStarted (with the
// canaries and, for a pty, its master) and then the end of the socket means that exec succeeded;
// JobFailed means that it did not.
// Decided in: policy/compile. Enforced by: Landlock, seccomp, rlimits.
// Recorded as: the canaries of JobStarted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "contain/seccomp.h"
#include "plan/plan.h"
#include "wire/control.h"

namespace bawn::init {

// What is the same for every job of a sandbox. Borrowed: outlives the jobs.
struct Walls {
  const plan::Plan* plan = nullptr;
  int control = -1;  // closed first in every child; -1 where that is done already
  int file_ruleset = -1;
  int scope_ruleset = -1;
  std::span<const contain::BpfInstruction> filter;
  std::string devpts;
  std::string refusal;  // a layer that does not hold: no job runs then; empty: all hold
};

// The facts that are neither held nor off, in words; empty: none.
std::string NotHeld(const std::vector<wire::LayerFact>& facts);

struct JobStart {
  uint32_t job = 0;
  // The spec's memfd; then stdin, stdout, stderr, unless the spec asks for a pty.
  std::vector<UniqueFd> fds;
};

// In a fresh child of pid 1 or of the job's guard. Becomes the payload or ends.
[[noreturn]] void RunJob(const Walls& walls, JobStart start, UniqueFd channel);

// Closes every descriptor but these.
void CloseAllBut(std::vector<int> keep);

}  // namespace bawn::init
