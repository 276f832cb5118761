#include "sys/wait_status.h"

#include <sys/wait.h>

namespace bawn::sys {

int ExitCode(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
int EndSignal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

}  // namespace bawn::sys
