// For tests only: what a hostile payload would try, run inside a sandbox as /payload MODE …
// Prints what it saw; static, so that it needs nothing of the view.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

int Number(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int OpenDescriptors() {
  DIR* dir = opendir("/proc/self/fd");
  while (dirent* entry = readdir(dir)) {
    int fd = Number(entry->d_name);
    if (entry->d_name[0] != '.' && fd != dirfd(dir)) std::printf("%d ", fd);
  }
  std::printf("\n");
  return 0;
}

// Batches of orphans: a child makes them and ends while they live; then they end by themselves.
int Orphans(int count) {
  constexpr int kBatch = 500;
  for (int done = 0; done < count; done += kBatch) {
    int hold[2];
    if (pipe(hold) < 0) return 3;
    pid_t parent = fork();
    if (parent < 0) return 3;
    if (parent == 0) {
      for (int i = 0; i < kBatch; ++i) {
        pid_t orphan = fork();
        if (orphan < 0) _exit(3);
        if (orphan == 0) {
          close(hold[1]);
          char byte;
          _exit(read(hold[0], &byte, 1) == 0 ? i & 0x7f : 9);
        }
      }
      _exit(0);
    }
    int status = 0;
    if (waitpid(parent, &status, 0) != parent || status != 0) return 4;
    close(hold[0]);
    close(hold[1]);
  }
  return 42;
}

int TryOpen(const char* path, int flags) {
  int fd = open(path, flags);
  std::printf("%s %s\n", path, fd >= 0 ? "OPENED" : std::strerror(errno));
  return fd >= 0 ? 1 : 0;
}

// Opens every /proc/PID/exe for writing, and for reading, until `path` exists. Prints how many of
// each.
int ScanExecutables(const char* path) {
  int readable = 0, writable = 0, rounds = 0;
  for (; access(path, F_OK) != 0; ++rounds) {
    for (int pid = 1; pid < 400; ++pid) {
      char name[64];
      std::snprintf(name, sizeof name, "/proc/%d/exe", pid);
      int fd = open(name, O_RDONLY);
      if (fd >= 0) ++readable, close(fd);
      fd = open(name, O_WRONLY);
      if (fd >= 0) ++writable, close(fd);
    }
  }
  std::printf("%d %d %d\n", rounds, readable, writable);
  return 0;
}

int ForkBomb() {
  signal(SIGHUP, SIG_IGN);
  for (int i = 0; i < 2; ++i) (void)fork();
  std::printf("x");
  std::fflush(stdout);
  while (true) {
    if (fork() == 0) setsid();
  }
}

int Main(int argc, char** argv) {
  std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "fds") return OpenDescriptors();
  if (mode == "orphans") return Orphans(Number(argv[2]));
  if (mode == "bomb") return ForkBomb();
  if (mode == "scan") return ScanExecutables(argv[2]);
  if (mode == "kill") return kill(Number(argv[2]), Number(argv[3])) == 0 ? 0 : errno;
  if (mode == "read" || mode == "write") {
    int opened = 0;
    for (int i = 2; i < argc; ++i) opened += TryOpen(argv[i], mode == "read" ? O_RDONLY : O_WRONLY);
    return opened == 0 ? 0 : 1;
  }
  if (mode == "fifo") {  // opens a FIFO for writing, as a door to a reader outside
    int fd = open(argv[2], O_WRONLY | O_NONBLOCK);
    if (fd < 0) return errno;
    return write(fd, "through\n", 8) == 8 ? 0 : errno;
  }
  if (mode == "connect") {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, argv[2], sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  }
  if (mode == "wait") {  // for a file, without forking
    std::printf("up\n");
    std::fflush(stdout);
    while (access(argv[2], F_OK) != 0) usleep(10'000);
    return 3;
  }
  if (mode == "signals") {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    int odd = 0;
    for (int s = 1; s < 32; ++s) {
      struct sigaction action = {};
      if (sigaction(s, nullptr, &action) == 0 && action.sa_handler != SIG_DFL) ++odd;
      if (sigismember(&mask, s) == 1) ++odd;
    }
    return odd;
  }
  return 99;
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv); }
