// wall: mounts  overlaps: landlock  source: DESIGN 5
// Opens an existing file of the host for writing, without changing it. Argument: path.
#include "attack.h"

int main(int argc, char** argv) {
  return Attempt("open for writing", open(Argument(argc, argv, 1), O_WRONLY | O_CLOEXEC));
}
