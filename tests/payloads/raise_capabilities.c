// wall: capabilities  overlaps: -  source: RT-22
// Takes every capability back.
#include <linux/capability.h>

#include "attack.h"

int main(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{0}};
  data[0].effective = data[0].permitted = 1u << CAP_SYS_ADMIN;
  return Attempt("capset", syscall(SYS_capset, &header, data));
}
