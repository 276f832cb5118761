#include "sys/raw.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sys::raw {

long Call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
  long result = syscall(static_cast<long>(number), a, b, c, d, e, f);
  return result < 0 ? -errno : result;
}

long GetpidByInt80() {
  long result = 20;
  // The 32-bit entry keeps r8 to r11 only by courtesy of the kernel.
  asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
  return result;
}

int SetNoNewPrivs() { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? errno : 0; }

int LoadFilter(const void* instructions, size_t count) {
  sock_fprog program = {};
  program.len = static_cast<unsigned short>(count);
  program.filter = static_cast<sock_filter*>(const_cast<void*>(instructions));
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0 ? errno : 0;
}

}  // namespace bawn::sys::raw
