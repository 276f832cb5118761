// wall: no-new-privs  overlaps: landlock, seccomp  source: DESIGN 5
// Looks whether no_new_privs is set, without which setuid programs keep their power.
#include <sys/prctl.h>

#include "attack.h"

int main(void) {
  errno = EPERM;
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? Succeeded("not set") : Stopped("set");
}
