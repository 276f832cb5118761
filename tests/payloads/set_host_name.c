// wall: capabilities  overlaps: uts-namespace  source: RT-19
// Changes the host name.
#include "attack.h"

int main(void) { return Attempt("sethostname", sethostname("attacked", 8)); }
