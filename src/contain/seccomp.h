// contain/seccomp.h
// The system call allowlist of RT-19 as a classic BPF program made at build time (no libseccomp at
// run time: building it there costs 2 ms). The table is contain/seccomp_table.h; the test compares
// program and libseccomp call by call.
// Decided in: policy/ (profile names). Enforced by: the kernel, per job. Recorded as: layer
// "seccomp".
// NOT protected: what the allowed calls do within the namespaces; contents behind pointers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/level.h"

namespace bawn::contain {

// One BPF instruction (struct sock_filter of linux/filter.h).
struct BpfInstruction {
  uint16_t code;
  uint8_t jump_true;
  uint8_t jump_false;
  uint32_t k;
};

// The program for a set of widening profiles ("browser", "debug"); unknown names are
// kInvalidArgument. At `restricted` it is narrower: no sockets but connected pairs, no System V
// IPC, no limits of other processes, since that level has no namespaces to keep these apart
// (RT-12). Static storage.
Result<std::span<const BpfInstruction>> SeccompProgram(const std::vector<std::string>& profiles,
                                                       plan::Level level = plan::Level::kIsolated);

// Loads it for the calling thread (no_new_privs must be set). Async-signal-safe: returns 0 or
// errno.
int LoadSeccomp(std::span<const BpfInstruction> program);

}  // namespace bawn::contain
