// wall: seccomp  overlaps: -  source: O-08
// Calls the kernel by x32 numbers.
#include "attack.h"

static int Call(void) { return Attempt("x32 getpid", syscall(0x40000000L | SYS_getpid)); }

int main(void) { return InChild("x32", Call); }
