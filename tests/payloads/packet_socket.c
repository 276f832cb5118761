// wall: seccomp  overlaps: capabilities, second-userns  source: RT-19
// Reads and writes raw frames.
#include "attack.h"

int main(void) { return Attempt("socket", socket(AF_PACKET, SOCK_RAW, 0)); }
