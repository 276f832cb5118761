// tests/payloads/attack.h
// What every attack program shares. One attempt each; the exit code is the whole result:
//   0  the attack succeeded (so does its positive control, run where the wall is absent)
//   1  it was stopped; the line on stdout says by which errno
//   2  it could not be tried: its own preparation failed
// The first line of each program names the wall it attacks, the walls that overlap it (each of them
// stops it alone), both at level isolated, and where the attack was seen;
// tests/escape/test_walls.py takes the walls down and sees whether the line is true.
#ifndef BAWN_TESTS_ATTACK_H_
#define BAWN_TESTS_ATTACK_H_

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int Succeeded(const char* what) {
  printf("succeeded: %s\n", what);
  return 0;
}

static inline int Stopped(const char* what) {
  printf("stopped: %s: %s\n", what, strerrorname_np(errno) ? strerrorname_np(errno) : "?");
  return 1;
}

static inline int Cannot(const char* what) {
  printf("cannot: %s: %s\n", what, strerrorname_np(errno) ? strerrorname_np(errno) : "?");
  return 2;
}

// For attacks that are one system call: its result decides.
static inline int Attempt(const char* what, long result) {
  return result >= 0 ? Succeeded(what) : Stopped(what);
}

// For attacks on a filter whose call cannot fully succeed anywhere: `reached` is the errno that the
// kernel gives once the call has passed every wall.
static inline int Reached(const char* what, long result, int reached) {
  return result >= 0 || errno == reached ? Succeeded(what) : Stopped(what);
}

// Runs `attempt` in a child, for attacks that are answered by a signal.
static inline int InChild(const char* what, int (*attempt)(void)) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid < 0) return Cannot("fork");
  if (pid == 0) {
    int result = attempt();
    fflush(stdout);
    _exit(result);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return Cannot("waitpid");
  if (WIFSIGNALED(status)) {
    printf("stopped: %s: signal %d\n", what, WTERMSIG(status));
    return 1;
  }
  return WEXITSTATUS(status);
}

// The argument, or exit 2: a program called wrongly must not look stopped.
static inline const char* Argument(int argc, char** argv, int index) {
  if (index < argc) return argv[index];
  printf("cannot: argument %d is missing\n", index);
  exit(2);
}

static inline int Number(int argc, char** argv, int index) {
  int value = 0;
  if (sscanf(Argument(argc, argv, index), "%d", &value) != 1) {
    printf("cannot: argument %d is no number\n", index);
    exit(2);
  }
  return value;
}

// Reads at most `size - 1` bytes of a file; -1 with errno, or the count.
static inline ssize_t ReadWhole(int dirfd, const char* path, char* buffer, size_t size) {
  int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -1;
  ssize_t count = read(fd, buffer, size - 1);
  int saved = errno;
  close(fd);
  errno = saved;
  if (count >= 0) buffer[count] = 0;
  return count;
}

#endif  // BAWN_TESTS_ATTACK_H_
