// wire/control.h
// The frames on bawn-init's control socket (SOCK_SEQPACKET), both ways. The keeper is outside and
// trusts nothing here beyond these shapes and limits; init is inside and never reads a frame that a
// payload could have written (the socket is close-on-exec and closed in every child first).
// RT-01: jobs are forked by init, never by a host process that enters the
// namespaces.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"

namespace bawn::wire {

// A frame is at most this many bytes; anything that can be larger (argv, environment, the Plan)
// crosses in a sealed memfd.
inline constexpr size_t kControlFrameBytesMax = 16 << 10;
inline constexpr size_t kJobsPerSandboxMax = 256;
inline constexpr size_t kJobSpecBytesMax = 8 << 20;
inline constexpr size_t kPlanBytesMax = 4 << 20;

// ---- keeper -> init

// Go on: once when the id maps are written (where the parent writes them), and once when the Plan
// is complete.
struct Proceed {};

// Descriptors: [spec memfd (JobSpec), stdin, stdout, stderr], or [spec memfd] when the spec asks
// for a pty. `job` is the keeper's own small number, unique in this sandbox.
struct StartJob {
  uint32_t job = 0;
};

// To the job's process group leader / foreground group of its pty.
struct SignalJob {
  uint32_t job = 0;
  uint32_t signal = 0;
};

// SIGKILL to everything the job left, by its own Landlock domain (RT-14). Answered by JobKilled.
struct KillJob {
  uint32_t job = 0;
};

// ---- init -> keeper

// What one step of the build or one canary showed. `name` is a layer's name in the receipt.
enum class LayerState : uint8_t { kHeld, kFailed, kUnknown, kOff };
struct LayerFact {
  std::string name;
  LayerState state = LayerState::kUnknown;
  std::string verified_by;  // "canary: connect EACCES", "read back: CapEff 0"
};

// The sandbox stands; `layers` was read back, step by step.
struct Ready {
  std::vector<LayerFact> layers;
};
// The build failed; nothing ran. `stage` names the step, `text` the call, object and errno.
struct SetupFailed {
  std::string stage;
  uint32_t sys_errno = 0;
  std::string text;
};
// The job's child is behind its last wall, ran its canaries and its exec succeeded. A pty master
// comes as the frame's one descriptor when the spec asked for a pty.
struct JobStarted {
  uint32_t job = 0;
  std::vector<LayerFact> canaries;
};
// The job never ran. `stage`: "exec" (then sys_errno is exec's), "canary", "landlock", …
struct JobFailed {
  uint32_t job = 0;
  std::string stage;
  uint32_t sys_errno = 0;
  std::string text;
};
// The job's main process ended. Others of the job may still live (`left` counts them, 0 in a
// one-job sandbox where init does not look).
struct JobExited {
  uint32_t job = 0;
  uint32_t status = 0;  // wait(2)
  uint64_t cpu_us = 0;
  uint64_t memory_peak_bytes = 0;
  uint32_t left = 0;
};
// Answer to KillJob: true when nothing of the job is left.
struct JobKilled {
  uint32_t job = 0;
  bool gone = false;
};

// From the keeper of a kept sandbox to its clients, never from init: the whole sandbox was ended by
// a limit of its tree, and every job in it with it. `by`: plan::KilledBy.
struct TreeKilled {
  uint32_t by = 0;
};

using ToInit = std::variant<Proceed, StartJob, SignalJob, KillJob>;
using FromInit =
    std::variant<Ready, SetupFailed, JobStarted, JobFailed, JobExited, JobKilled, TreeKilled>;

std::string Encode(const ToInit& message);
std::string Encode(const FromInit& message);
Result<ToInit> DecodeToInit(std::string_view bytes);
Result<FromInit> DecodeFromInit(std::string_view bytes);

}  // namespace bawn::wire
