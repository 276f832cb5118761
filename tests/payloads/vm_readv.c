// wall: pid1-dumpable  overlaps: landlock, pid-namespace  source: RT-22
// Reads the memory of another process. Argument: pid (inside: 1).
#include <sys/uio.h>

#include "attack.h"

int main(int argc, char** argv) {
  int pid = Number(argc, argv, 1);
  char buffer[8];
  struct iovec local = {buffer, sizeof buffer};
  struct iovec remote = {(void*)0x400000, sizeof buffer};
  // EFAULT: the right to look was given, only the address held nothing.
  return Reached("process_vm_readv", process_vm_readv(pid, &local, 1, &remote, 1, 0), EFAULT);
}
