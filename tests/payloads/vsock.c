// wall: seccomp  overlaps: -  source: kernel facts 0.4
// Opens a socket to the hypervisor; no network namespace holds it.
#include "attack.h"

int main(void) { return Attempt("socket", socket(AF_VSOCK, SOCK_STREAM, 0)); }
