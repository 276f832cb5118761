// wall: seccomp  overlaps: -  source: RT-19
// Talks to the packet filter of the kernel.
#include "attack.h"

int main(void) { return Attempt("socket", socket(AF_NETLINK, SOCK_RAW, 12)); }
