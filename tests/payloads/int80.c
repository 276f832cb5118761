// wall: seccomp  overlaps: -  source: O-08
// Calls the kernel by its 32-bit entry, whose numbers are others.
#include "attack.h"

static int Call(void) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");  // 20: getpid
  return result == getpid() ? Succeeded("int 0x80") : (errno = ENOSYS, Stopped("int 0x80"));
}

int main(void) { return InChild("int 0x80", Call); }
