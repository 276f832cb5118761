// bawn-worker: one session on descriptor 3; what people read goes to descriptor 1; a publish may
// find the objects of commits made inside on descriptor 4.
#include <signal.h>

#include "git/repo.h"
#include "worker/ops.h"

int main() {
  signal(SIGPIPE, SIG_IGN);  // a reader that left is an error of a write, not an end half way
  bawn::git::InitGit();
  return bawn::worker::ServeSession(3, 1, 4);
}
