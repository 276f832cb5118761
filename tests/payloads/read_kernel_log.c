// wall: seccomp  overlaps: capabilities, user-namespace  source: RT-19
// Reads the kernel's log.
#include <sys/klog.h>

#include "attack.h"

int main(void) {
  char text[256];
  return Attempt("syslog", klogctl(3, text, sizeof text));
}
