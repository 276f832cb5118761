// wall: proc-sys  overlaps: uid  source: RT-22
// Opens the kernel's core handler for writing.
#include "attack.h"

int main(void) {
  return Attempt("open", open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC));
}
