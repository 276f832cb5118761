// wall: pid1-dumpable  overlaps: landlock, pid-namespace  source: RT-22
// Attaches to another process. Argument: pid (inside: 1).
#include <sys/ptrace.h>

#include "attack.h"

int main(int argc, char** argv) {
  long result = ptrace(PTRACE_SEIZE, Number(argc, argv, 1), 0, 0);
  return Attempt("PTRACE_SEIZE", result);
}
