/* Lets exactly one system call of one process of a command fail, or kills the process there.
 *
 *   inject --record FILE -- COMMAND...
 *   inject --at PROCESS:NUMBER:OCCURRENCE:ACTION --report FILE -- COMMAND...
 *
 * PROCESS is the process's place in the tree of the command: "0" is the command, "0.1" its second
 * child, "0.1.0" that one's first: the same in every run, whatever the pids and the scheduling.
 * NUMBER is the system call's, OCCURRENCE counts its calls in that process from 0, ACTION is an
 * errno (the call is not made) or "kill" (SIGKILL before it is made).
 *
 * A record has one line per call: PROCESS NUMBER OCCURRENCE PROGRAM OWN, where PROGRAM is the
 * process's name at that moment and OWN is 1 once the program's own code runs (behind the C
 * library's and the loader's start).
 *
 * strace(1) counts calls per name over whichever process comes first and follows a process that
 * has become non-dumpable only by chance; here a point is named exactly.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kProcessesMax = 256, kPathMax = 64, kCallsMax = 512, kOpenat2 = 437 };

struct process {
  pid_t pid; /* 0: a free place */
  char path[kPathMax];
  int children;
  bool known;               /* its parent's fork has been seen, so `path` is right */
  bool stopped;             /* stopped before that: goes on once it is known */
  bool inside;              /* between entry and exit of a call */
  bool failing;             /* the call it is in gets `action` as its result */
  bool own;                 /* the program's own code runs */
  unsigned long long first; /* argument of a brk that was made harmless; else 0 */
  int counts[kCallsMax];
};

static struct process processes[kProcessesMax];
static FILE* record;
static char wanted_path[kPathMax];
static int wanted_call = -1, wanted_occurrence, action_errno;
static bool kills, hit;
static bool
    began; /* the command's exec: what this program's own child did before is no call of it */

static void die(const char* what) {
  fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
  exit(120);
}

static struct process* find(pid_t pid) {
  struct process* free_place = NULL;
  for (int i = 0; i < kProcessesMax; ++i) {
    if (processes[i].pid == pid) return &processes[i];
    if (processes[i].pid == 0 && !free_place) free_place = &processes[i];
  }
  if (!free_place) die("too many processes");
  memset(free_place, 0, sizeof *free_place);
  free_place->pid = pid;
  return free_place;
}

static bool is_target(const struct process* process) {
  return !hit && strcmp(process->path, wanted_path) == 0;
}

/* Stops at system calls only where one is looked for: everything else runs at full speed. */
static void go_on(struct process* process, int signal) {
  bool watch = record || process->failing || process->inside || is_target(process);
  ptrace(watch ? PTRACE_SYSCALL : PTRACE_CONT, process->pid, NULL, (void*)(long)signal);
}

static void read_name(pid_t pid, char* name, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", pid);
  name[0] = '?', name[1] = '\0';
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t got = read(fd, name, size - 1);
  close(fd);
  if (got <= 0) return;
  name[got] = '\0';
  for (char* at = name; *at; ++at) {
    if (*at == '\n') *at = '\0';
    if (*at == ' ') *at = '_';
  }
}

/* The C library's start ends with mprotect in a static program; the loader never calls openat2,
 * prctl or sigaction, which are what our programs begin with. */
static void note_start(struct process* process, int call) {
  if (process->own) return;
  if (call == kOpenat2 || call == SYS_prctl || call == SYS_rt_sigaction || call == SYS_fcntl) {
    process->own = true;
  }
}

static void on_entry(struct process* process, const struct __ptrace_syscall_info* info) {
  process->inside = true;
  if (!began) return;
  if (info->arch != AUDIT_ARCH_X86_64 || info->entry.nr >= kCallsMax) return;
  int call = (int)info->entry.nr;
  int occurrence = process->counts[call]++;
  note_start(process, call);
  if (record) {
    char name[32];
    read_name(process->pid, name, sizeof name);
    fprintf(record, "%s %d %d %s %d\n", process->path, call, occurrence, name, process->own);
    return;
  }
  if (!is_target(process) || call != wanted_call || occurrence != wanted_occurrence) return;
  hit = true;
  if (kills) {
    kill(process->pid, SIGKILL);
    return;
  }
  struct user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, process->pid, NULL, &regs) < 0) return;
  /* brk answers a failure with the break as it is, close closes whatever it answers; every other
   * call is not made. */
  if (call == SYS_brk) {
    process->first = regs.rdi;
    regs.rdi = 0;
  } else if (call != SYS_close) {
    regs.orig_rax = SYS_getpid; /* harmless, and let through by every filter */
  }
  if (ptrace(PTRACE_SETREGS, process->pid, NULL, &regs) == 0) process->failing = true;
}

static void on_exit_of_call(struct process* process) {
  process->inside = false;
  if (!process->failing) return;
  process->failing = false;
  struct user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, process->pid, NULL, &regs) < 0) return;
  if (process->first != 0) {
    regs.rdi = process->first;
  } else {
    regs.rax = (unsigned long long)-(long long)action_errno;
  }
  process->first = 0;
  ptrace(PTRACE_SETREGS, process->pid, NULL, &regs);
}

static void on_call(struct process* process) {
  struct __ptrace_syscall_info info;
  long got = ptrace(PTRACE_GET_SYSCALL_INFO, process->pid, (void*)sizeof info, &info);
  if (got <= 0) return;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) on_entry(process, &info);
  if (info.op == PTRACE_SYSCALL_INFO_EXIT) on_exit_of_call(process);
}

static void on_fork(struct process* parent) {
  unsigned long pid = 0;
  if (ptrace(PTRACE_GETEVENTMSG, parent->pid, NULL, &pid) < 0) return;
  struct process* child = find((pid_t)pid);
  snprintf(child->path, sizeof child->path, "%.48s.%d", parent->path, parent->children++);
  child->known = true;
  child->own = parent->own;
  if (child->stopped) go_on(child, 0);
  child->stopped = false;
}

static void on_stop(struct process* process, int status) {
  int signal = WSTOPSIG(status), event = status >> 16;
  if (!process->known) { /* its parent's event is still to come */
    process->stopped = true;
    return;
  }
  if (signal == (SIGTRAP | 0x80)) {
    on_call(process);
  } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
             event == PTRACE_EVENT_CLONE) {
    on_fork(process);
  } else if (event == PTRACE_EVENT_EXEC) {
    process->own = false;
    began = true;
  } else if (event == PTRACE_EVENT_STOP) {
    if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
      ptrace(PTRACE_LISTEN, process->pid, NULL, NULL);
      return;
    }
  } else if (event == 0) {
    go_on(process, signal);
    return;
  }
  go_on(process, 0);
}

static pid_t start(char** argv) {
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) < 0) die("pipe2");
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) {
    char byte;
    close(gate[1]);
    /* This read is of ours, and may be the one that is made to fail. */
    ssize_t got;
    while ((got = read(gate[0], &byte, 1)) < 0) {
    }
    if (got != 1) _exit(120);
    execv(argv[0], argv);
    _exit(121);
  }
  long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
  if (ptrace(PTRACE_SEIZE, pid, NULL, (void*)options) < 0) die("ptrace(SEIZE)");
  struct process* root = find(pid);
  snprintf(root->path, sizeof root->path, "0");
  root->known = true;
  if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0) die("ptrace(INTERRUPT)");
  if (write(gate[1], "x", 1) != 1) die("write");
  close(gate[0]);
  close(gate[1]);
  return pid;
}

/* Once when the command has ended, and again when all of its processes have. By rename: a reader
 * never sees half of it. */
static void write_report(const char* path, int status) {
  char unfinished[512];
  if (!path) return;
  snprintf(unfinished, sizeof unfinished, "%s.new", path);
  FILE* file = fopen(unfinished, "we");
  if (!file) die(unfinished);
  int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  fprintf(file, "%s %d\n", hit ? "hit" : "missed", code);
  fclose(file);
  if (rename(unfinished, path) < 0) die(path);
}

/* Until every process has ended, so that what the command leaves running is watched too. */
static int follow(pid_t root, const char* report) {
  int answer = -1, status = 0;
  while (true) {
    pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return answer;
    struct process* process = find(pid);
    if (WIFSTOPPED(status)) {
      on_stop(process, status);
      continue;
    }
    process->pid = 0;
    if (pid != root) continue;
    answer = status;
    write_report(report, answer);
  }
}

static void parse_point(char* text) {
  char* at = strtok(text, ":");
  if (at) snprintf(wanted_path, sizeof wanted_path, "%s", at);
  char* number = strtok(NULL, ":");
  char* occurrence = strtok(NULL, ":");
  char* action = strtok(NULL, ":");
  if (!at || !number || !occurrence || !action) {
    fprintf(stderr, "inject: --at PROCESS:NUMBER:OCCURRENCE:ACTION\n");
    exit(120);
  }
  wanted_call = atoi(number);
  wanted_occurrence = atoi(occurrence);
  kills = strcmp(action, "kill") == 0;
  action_errno = atoi(action);
}

int main(int argc, char** argv) {
  const char* report = NULL;
  int at = 1;
  for (; at + 1 < argc && strcmp(argv[at], "--") != 0; at += 2) {
    if (strcmp(argv[at], "--record") == 0) {
      record = fopen(argv[at + 1], "we");
      if (!record) die(argv[at + 1]);
    } else if (strcmp(argv[at], "--at") == 0) {
      parse_point(argv[at + 1]);
    } else if (strcmp(argv[at], "--report") == 0) {
      report = argv[at + 1];
    }
  }
  if (at + 1 >= argc) {
    fprintf(stderr, "usage: inject --record FILE | --at POINT --report FILE -- COMMAND...\n");
    return 120;
  }
  int status = follow(start(argv + at + 1), report);
  if (record) fclose(record);
  write_report(report, status);
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return WEXITSTATUS(status);
}
