// wall: pid-namespace  overlaps: -  source: DESIGN 5
// Slows a process of the host. Argument: pid.
#include <sys/resource.h>

#include "attack.h"

int main(int argc, char** argv) {
  return Attempt("setpriority", setpriority(PRIO_PROCESS, (id_t)Number(argc, argv, 1), 19));
}
