// wall: seccomp  overlaps: -  source: RT-19
// Makes every readable page executable.
#include <sys/personality.h>

#include "attack.h"

int main(void) { return Attempt("personality", personality(READ_IMPLIES_EXEC)); }
