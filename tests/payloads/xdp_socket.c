// wall: seccomp  overlaps: capabilities, second-userns  source: RT-19
// Opens an AF_XDP socket.
#include "attack.h"

int main(void) { return Attempt("socket", socket(44, SOCK_RAW, 0)); }
