// wall: seccomp  overlaps: capabilities, user-namespace  source: RT-19
// Turns a file into swap. ENOENT: the right was given, only the file is missing.
#include <sys/swap.h>

#include "attack.h"

int main(void) { return Reached("swapon", swapon("/nonexistent/by-attack", 0), ENOENT); }
