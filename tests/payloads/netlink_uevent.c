// wall: seccomp  overlaps: -  source: RT-19
// Listens to device events of the kernel.
#include "attack.h"

int main(void) { return Attempt("socket", socket(AF_NETLINK, SOCK_RAW, 15)); }
