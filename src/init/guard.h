// init/guard.h
// The guard of one job (RT-14): a process of ours between pid 1 and the job, non-dumpable,
// subreaper of all that the job leaves, in a Landlock domain of scopes only. The job's own domain
// is nested in it, so kill(-1, SIGKILL) by the guard reaches exactly this job: every process of it,
// atomically against forks, and nobody else's; and no payload can signal its guard. It speaks
// wire/control frames with pid 1 on its channel. NOT protected: the guard counts on the kernel's
// OOM killer to choose the job before it (+200).
// Decided in: policy/compile (Plan::job_domains). Enforced by: Landlock's signal scope.
// Recorded as: JobKilled.
#pragma once

#include "base/unique_fd.h"
#include "init/job.h"

namespace bawn::init {

[[noreturn]] void RunGuard(const Walls& walls, JobStart start, UniqueFd channel);

}  // namespace bawn::init
