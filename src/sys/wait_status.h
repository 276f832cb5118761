// sys/wait_status.h
// What a wait(2) status says, without <sys/wait.h> in other rooms.
#pragma once

namespace bawn::sys {

// Exit code, or -1 when the process did not exit by itself.
int ExitCode(int status);
// The signal that ended the process, or 0.
int EndSignal(int status);

}  // namespace bawn::sys
