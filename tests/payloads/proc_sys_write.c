// wall: proc-sys  overlaps: -  source: RT-22
// Looks for any kernel setting that opens for writing.
#include <ftw.h>

#include "attack.h"

static int found;

static int Visit(const char* path, const struct stat* stat, int type, struct FTW* ftw) {
  (void)stat, (void)ftw;
  if (type != FTW_F) return 0;
  int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return 0;
  close(fd);
  printf("%s\n", path);
  found = 1;
  return 1;
}

int main(void) {
  if (nftw("/proc/sys", Visit, 16, FTW_PHYS | FTW_MOUNT) < 0) return Stopped("nftw");
  errno = EROFS;
  return found ? Succeeded("opened for writing") : Stopped("open for writing");
}
