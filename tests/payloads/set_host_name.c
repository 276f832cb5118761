// wall: seccomp  overlaps: capabilities, second-userns  source: RT-19
// Changes the host name.
#include "attack.h"

int main(void) { return Attempt("sethostname", sethostname("attacked", 8)); }
