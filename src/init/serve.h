// init/serve.h
// Pid 1's life after the build: orders in, jobs forked, every orphan reaped, ends reported. Ends
// with the control socket: its exit kills everything in the pid namespace (pid_namespaces(7)).
#pragma once

#include "base/unique_fd.h"
#include "init/job.h"

namespace bawn::init {

// `signals`: SIGCHLD as a descriptor. `oom_score_adj`: pid 1's own; raised around each fork so that
// a job is chosen before its pid 1 (RT-22).
[[noreturn]] void Serve(const Walls& walls, UniqueFd signals, UniqueFd oom_score_adj);

}  // namespace bawn::init
