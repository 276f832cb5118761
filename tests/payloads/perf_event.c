// wall: seccomp  overlaps: -  source: RT-19
// Measures the machine.
#include <linux/perf_event.h>

#include "attack.h"

int main(void) {
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                 .size = sizeof attr,
                                 .config = PERF_COUNT_SW_TASK_CLOCK,
                                 .exclude_kernel = 1};
  return Attempt("perf_event_open", syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}
