// wall: capabilities  overlaps: user-namespace  source: RT-22
// Drops groups to pass a denying one.
#include <grp.h>

#include "attack.h"

int main(void) { return Attempt("setgroups", setgroups(0, NULL)); }
