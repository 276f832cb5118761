// wall: ipc-namespace  overlaps: -  source: DESIGN 5
// Attaches System V shared memory of the host. Argument: its id.
#include <sys/shm.h>

#include "attack.h"

int main(int argc, char** argv) {
  return Attempt("shmat", shmat(Number(argc, argv, 1), 0, SHM_RDONLY) == (void*)-1 ? -1 : 0);
}
