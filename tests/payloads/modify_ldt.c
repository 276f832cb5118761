// wall: seccomp  overlaps: -  source: RT-19
// Changes the segment table.
#include "attack.h"

int main(void) {
  char table[16];
  return Attempt("modify_ldt", syscall(SYS_modify_ldt, 0, table, sizeof table));
}
