// launch/keeper.h
// The keeper: parent of pid 1. Owns the deadlines, limits and output of one sandbox from the start
// of its pid 1 to the proof that everything in it is gone. In a one-shot `bawn run` it lives in the
// `bawn` process itself: when that dies, pid 1 sees the end of its control socket and ends all.
// Decided in: policy/compile. Enforced by: pid 1's pidfd and timers here. Recorded as: `outcome`,
// `containment.layers`, `output`, `remaining`.
// Threads: one. Privileges: the caller's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "contain/engine.h"
#include "launch/quota.h"
#include "plan/receipt.h"

namespace bawn::launch {

inline constexpr int kDrainMs = 200;          // after the main process ended (RT-27)
inline constexpr int kGraceMs = 2000;         // between TERM and KILL
inline constexpr int kGoneDeadlineMs = 5000;  // DESIGN promise 1
inline constexpr int kSetupDeadlineMs = 20'000;

struct CallerIo {
  int in = -1, out = -1, err = -1;  // borrowed; -1: none
  bool one_output = false;          // out and err are one file: the job gets one pipe (E-07)
  bool pty = false;                 // an inner pty, copied from `in` and to `out`
};

struct JobLimits {
  std::optional<uint64_t> time_ms, idle_ms;
  uint64_t kept_bytes_max = 64ULL << 20;
  std::optional<uint64_t> out_bytes_max;  // of standard output: more ends the job
  QuotaLimits changes;                    // of the upper layer
};

// What pid 1 needs only after it has built: put together while it builds. A failure ends the
// sandbox before anything ran in it, and is the run's.
struct JobRun;
using WhileBuilding = std::function<Result<>(JobRun* run)>;

struct JobRun {
  contain::Engine* engine = nullptr;
  contain::ProvisionRequest provision;
  UniqueFd job_spec;
  CallerIo io;
  JobLimits limits;
  int log_dir = -1;  // borrowed; -1: --no-log
  int upper = -1;    // borrowed: the layer that `limits.changes` is about; -1: not measured
  // Called at each step of the job's life: "started", "ended" … (the status descriptor).
  std::function<void(const std::string& event)> on_event;
  WhileBuilding while_building;  // may fill job_spec and log_dir
};

struct JobReport {
  plan::Outcome outcome;
  std::vector<plan::LayerReport> layers;
  std::optional<uint64_t> cpu_ms, memory_peak_bytes, pids_peak;
  bool whole_tree = false;  // the three figures are of the sandbox's control group
  plan::StreamReport out, err;
  std::vector<std::string> remaining;
  std::string failure;  // setup_failed, interrupted: what was said; empty otherwise
  int failure_errno = 0;
  std::string failure_stage;
  bool started = false;        // the command was executed behind all of its walls
  bool lost = false;           // the sandbox never stood, or it ended before its job
  bool nothing_ran = false;    // by the word of pid 1, or because the sandbox never stood
  bool output_broken = false;  // the caller's output went away
  int output_errno = 0;        // EPIPE: its reader did, 128+13; else it could not be written
  int64_t started_at_ns = 0, ended_at_ns = 0;
};

// Provisions, runs one job, ends the sandbox and proves it gone. An error means Bawn failed before
// a sandbox existed; everything later is in the report.
Result<JobReport> RunOneShot(JobRun run);

}  // namespace bawn::launch
