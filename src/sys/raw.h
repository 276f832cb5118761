// sys/raw.h
// System calls with nothing around them: for the last mile before exec, for canaries and for tests
// that need the kernel's own answer. Async-signal-safe; no allocation; EINTR is not retried.
// Sources: syscall(2), seccomp(2), prctl(2).
#pragma once

#include <cstddef>
#include <cstdint>

namespace bawn::sys::raw {

// The call's value, or -errno. `number` is sys/syscall_numbers.h's; arguments as the ABI passes
// them.
long Call(uint64_t number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0,
          uint64_t e = 0, uint64_t f = 0);

inline uint64_t Arg(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// getpid by the 32-bit entry (int 0x80, number 20 of the i386 ABI). The process has ended by SIGSYS
// where a filter kills foreign architectures; ENOSYS or SIGSEGV without IA32 emulation.
long GetpidByInt80();

// prctl(PR_SET_NO_NEW_PRIVS, 1): 0 or errno.
int SetNoNewPrivs();

// Loads a classic BPF filter for the calling thread (seccomp(2), SECCOMP_SET_MODE_FILTER, no
// flags). `instructions` is an array of struct sock_filter (8 bytes each). 0 or errno.
int LoadFilter(const void* instructions, size_t count);

}  // namespace bawn::sys::raw
