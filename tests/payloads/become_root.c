// wall: capabilities  overlaps: user-namespace  source: RT-22
// Becomes uid 0.
#include "attack.h"

int main(void) { return Attempt("setresuid", setresuid(0, 0, 0)); }
