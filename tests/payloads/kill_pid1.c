// wall: landlock  overlaps: pid-namespace  source: RT-22
// Signals pid 1. Argument: pid (inside: 1).
#include "attack.h"

int main(int argc, char** argv) { return Attempt("kill", kill(Number(argc, argv, 1), SIGSTOP)); }
