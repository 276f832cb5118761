// wall: mounts  overlaps: landlock  source: O-13
// Hard-links a file of the host into the workspace. Argument: path.
#include "attack.h"

int main(int argc, char** argv) {
  int result = linkat(AT_FDCWD, Argument(argc, argv, 1), AT_FDCWD, "linked-by-attack", 0);
  if (result == 0) unlink("linked-by-attack");
  return Attempt("linkat", result);
}
