// wall: seccomp  overlaps: user-limit  source: RT-19
// Watches files of everybody.
#include <sys/fanotify.h>

#include "attack.h"

int main(void) {
  return Attempt("fanotify_init", fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY));
}
