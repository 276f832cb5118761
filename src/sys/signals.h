// sys/signals.h
// Signal state around fork and exec, and SIGCHLD as a descriptor.
// Sources: sigaction(2), sigprocmask(2), signalfd(2), wait4(2), signal(7), E-27.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::sys {

void ResetSignalActions();  // every action to default: what exec would otherwise inherit as
                            // "ignore"
void UnblockAllSignals();
Result<UniqueFd>
ChildSignalFd();  // blocks SIGCHLD; non-blocking descriptor, readable when it comes
void DrainSignalFd(int fd);

// One ended child of the caller. `pid` 0: none has ended; -1: there are no children.
struct Reaped {
  int pid = 0;
  int status = 0;  // wait(2)
  uint64_t cpu_us = 0;
  uint64_t memory_peak_bytes = 0;
};
Reaped ReapAnyChild();  // never blocks

// kill(2): 0 or errno. `pid` -1 is everything the caller may signal but itself and pid 1.
int Kill(int pid, int signal);

}  // namespace bawn::sys
