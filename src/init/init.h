// init/init.h
// bawn-init: pid 1 of a sandbox. Started by contain/engines/native with
//   0, 1, 2   /dev/null
//   3         the control socket (SOCK_SEQPACKET, frames of wire/control.h)
//   4         the Plan, a memfd that is complete and sealed when Proceed comes
//   5 …       what Source::fd_slot names, in order
// an empty environment, its ids taken, and every capability of a fresh user namespace (ambient).
// Non-dumpable from its first act on; nothing of it can be opened through /proc (RT-01, RT-22).
#pragma once

namespace bawn::init {

inline constexpr int kControlFd = 3;
inline constexpr int kPlanFd = 4;
inline constexpr int kFirstSlotFd = 5;

[[noreturn]] void InitMain();

}  // namespace bawn::init
