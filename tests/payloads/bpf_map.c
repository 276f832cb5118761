// wall: seccomp  overlaps: capabilities, user-namespace  source: RT-19
// Loads objects of the kernel's own machine.
#include <linux/bpf.h>

#include "attack.h"

int main(void) {
  union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY};
  attr.key_size = 4;
  attr.value_size = 8;
  attr.max_entries = 1;
  return Attempt("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr));
}
