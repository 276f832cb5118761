// wall: proc-sys  overlaps: capabilities  source: RT-26
// Lifts the lid on new user namespaces.
#include "attack.h"

int main(void) {
  return Attempt("open", open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC));
}
