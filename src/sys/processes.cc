#include "sys/processes.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sys/files.h"

namespace bawn::sys {
namespace {

constexpr unsigned kMfdNoexecSeal = 0x0008U;  // linux/memfd.h, Linux 6.3
static_assert(kAllNamespaces == (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                 CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP));

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

void AssertSingleThreaded() {
  Result<FileStat> tasks = Fstatat(AT_FDCWD, "/proc/self/task");
  // Without /proc nothing can be said; st_nlink of the directory is 2 + threads otherwise.
  if (tasks) BAWN_ASSERT(tasks->nlink <= 3);
}

Result<Child> Clone3(uint64_t flags) {
  int pidfd = -1;
  clone_args args = {};
  args.flags = flags | CLONE_PIDFD;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  long pid = syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) return FailErrno(errno, "clone3");
  Child child;
  child.pid = static_cast<pid_t>(pid);
  if (pid > 0) child.pidfd.Reset(pidfd);
  return child;
}

Result<UniqueFd> PidfdOpen(pid_t pid) {
  long fd = syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) return FailErrno(errno, "pidfd_open");
  return UniqueFd(static_cast<int>(fd));
}

Result<> PidfdSendSignal(int pidfd, int signal) {
  if (syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) < 0) {
    return FailErrno(errno, "pidfd_send_signal");
  }
  return {};
}

Result<Exit> WaitPidfd(int pidfd, bool wait, bool* ended) {
  siginfo_t info = {};
  rusage usage = {};
  int options = WEXITED | (wait ? 0 : WNOHANG);
  long result = 0;
  do {
    result = syscall(SYS_waitid, P_PIDFD, pidfd, &info, options, &usage);
  } while (result < 0 && errno == EINTR);
  if (result < 0) return FailErrno(errno, "waitid(P_PIDFD)");
  *ended = info.si_pid != 0;
  Exit exit;
  if (!*ended) return exit;
  exit.status = info.si_code == CLD_EXITED
                    ? (info.si_status & 0xff) << 8
                    : (info.si_status | (info.si_code == CLD_DUMPED ? 0x80 : 0));
  auto micros = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000 + static_cast<uint64_t>(t.tv_usec);
  };
  exit.cpu_us = micros(usage.ru_utime) + micros(usage.ru_stime);
  exit.memory_peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return exit;
}

Result<> Unshare(uint64_t flags) {
  if (unshare(static_cast<int>(flags)) < 0) return FailErrno(errno, "unshare");
  return {};
}

Result<> CloseFrom(unsigned first) {
  if (close_range(first, ~0U, 0) < 0) return FailErrno(errno, "close_range");
  return {};
}

void WaitToBeKilled(pid_t parent) {
  // Cannot fail; the parent may be gone before it.
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  while (getppid() == parent) pause();
  _exit(0);
}

Error ExecFd(int fd, const std::vector<std::string>& argv, const std::vector<std::string>& envp) {
  std::vector<char*> arguments = Pointers(argv);
  std::vector<char*> environment = Pointers(envp);
  syscall(SYS_execveat, fd, "", arguments.data(), environment.data(), AT_EMPTY_PATH);
  return FailErrno(errno, "execveat").error();
}

namespace {

// The child half of Spawn: only calls, no return. Descriptors are first moved above the target
// range so that no dup2 overwrites one still needed.
[[noreturn]] void SpawnedChild(const SpawnSpec& spec) {
  constexpr int kStage = 64;
  int program = fcntl(spec.program_fd, F_DUPFD_CLOEXEC, kStage);
  std::vector<int> staged;
  for (int fd : spec.fds) staged.push_back(fcntl(fd, F_DUPFD_CLOEXEC, kStage));
  for (size_t i = 0; i < staged.size(); ++i) {
    if (dup2(staged[i], static_cast<int>(i)) < 0) _exit(125);
  }
  // Everything but the program (close-on-exec itself) and the targets goes.
  close_range(static_cast<unsigned>(staged.size()), static_cast<unsigned>(program) - 1, 0);
  close_range(static_cast<unsigned>(program) + 1, ~0U, 0);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < 65; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (spec.new_session) setsid();
  ExecFd(program, spec.argv, spec.envp);
  _exit(125);
}

}  // namespace

Result<Child> Spawn(const SpawnSpec& spec) {
  BAWN_ASSERT(spec.fds.size() < 32);
  Child child = BAWN_TRY(Clone3(0));
  if (child.pid == 0) SpawnedChild(spec);
  return child;
}

Result<UniqueFd> Memfd(const char* name) {
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | kMfdNoexecSeal);
  if (fd < 0 && errno == EINVAL) fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return FailErrno(errno, "memfd_create");
  return UniqueFd(fd);
}

Result<UniqueFd> SealedMemfd(const char* name, std::string_view bytes) {
  UniqueFd fd = BAWN_TRY(Memfd(name));
  BAWN_CHECK_OK(FillAndSeal(fd.get(), bytes));
  return fd;
}

Result<> FillAndSeal(int memfd, std::string_view bytes) {
  BAWN_CHECK_OK(Pwrite(memfd, bytes, 0));
  if (fcntl(memfd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) {
    return FailErrno(errno, "fcntl(F_ADD_SEALS)");
  }
  return {};
}

void OpenMissingStdio() {
  for (int fd = 0; fd < 3; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    int null = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);  // the lowest free one: `fd`
    BAWN_ASSERT(null == fd);
  }
}

Result<std::string> SelfPath() { return Readlinkat(AT_FDCWD, "/proc/self/exe"); }

Result<UniqueFd> OpenSibling(std::string_view name) {
  std::string self = BAWN_TRY(SelfPath());
  std::string directory = self.substr(0, self.rfind('/'));
  for (const char* place : {"/", "/../libexec/bawn/"}) {
    Result<UniqueFd> fd = Openat2(AT_FDCWD, directory + place + std::string(name), O_RDONLY);
    if (fd) return fd;
  }
  return Fail(ErrorCode::kNotFound,
              std::string(name) + " is neither beside " + self + " nor in ../libexec/bawn",
              "reinstall Bawn: its programs belong together");
}

}  // namespace bawn::sys
