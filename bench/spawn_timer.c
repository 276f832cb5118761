// bench/spawn_timer.c: start-to-exit time of whole commands, without a shell in the timed path.
//   spawn_timer latency ROUNDS LIST       every command once per round, in the order of LIST
//   spawn_timer throughput N SECONDS LIST N at once of each command, one command after the other
// LIST: one command per line, words separated by single tabs; the first word is its name.
// Prints one line per measurement: name<TAB>nanoseconds<TAB>status   (latency)
//                                  name<TAB>runs<TAB>nanoseconds<TAB>failures   (throughput)
// posix_spawn, not fork: the cost of copying this process must not be in the figure.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kCommandsMax = 32, kWordsMax = 256 };

struct Command {
  char* name;
  char* words[kWordsMax];
};

static struct Command commands[kCommandsMax];
static int count;
static posix_spawn_file_actions_t quiet;
extern char** environ;

static long long Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void Die(const char* what) {
  perror(what);
  exit(2);
}

static void ReadList(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) Die(path);
  char* line = NULL;
  size_t size = 0;
  ssize_t length;
  while ((length = getline(&line, &size, file)) > 0 && count < kCommandsMax) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    char* rest = strdup(line);
    struct Command* command = &commands[count];
    command->name = strsep(&rest, "\t");
    int words = 0;
    while (rest && words < kWordsMax - 1) command->words[words++] = strsep(&rest, "\t");
    if (words > 0) ++count;
  }
  free(line);
  fclose(file);
}

static pid_t Start(struct Command* command) {
  pid_t pid;
  int error = posix_spawnp(&pid, command->words[0], &quiet, NULL, command->words, environ);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", command->words[0], strerror(error));
    exit(2);
  }
  return pid;
}

static void Latency(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      int status = 0;
      long long start = Now();
      pid_t pid = Start(&commands[i]);
      if (waitpid(pid, &status, 0) != pid) Die("waitpid");
      printf("%s\t%lld\t%d\n", commands[i].name, Now() - start, status);
    }
  }
}

static void Throughput(int at_once, int seconds) {
  for (int i = 0; i < count; ++i) {
    long long start = Now(), end = start + seconds * 1000000000LL;
    long runs = 0, failures = 0;
    int live = 0;
    while (live > 0 || Now() < end) {
      while (live < at_once && Now() < end) {
        Start(&commands[i]);
        ++live;
      }
      int status = 0;
      if (wait(&status) < 0) break;
      --live;
      ++runs;
      failures += status != 0;
    }
    printf("%s\t%ld\t%lld\t%ld\n", commands[i].name, runs, Now() - start, failures);
  }
}

int main(int argc, char** argv) {
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
  if (argc == 4 && strcmp(argv[1], "latency") == 0) {
    ReadList(argv[3]);
    Latency((int)strtoul(argv[2], NULL, 10));
    return 0;
  }
  if (argc == 5 && strcmp(argv[1], "throughput") == 0) {
    ReadList(argv[4]);
    Throughput((int)strtoul(argv[2], NULL, 10), (int)strtoul(argv[3], NULL, 10));
    return 0;
  }
  fprintf(stderr, "usage: spawn_timer latency ROUNDS LIST | throughput N SECONDS LIST\n");
  return 2;
}
