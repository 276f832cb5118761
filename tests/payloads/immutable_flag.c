// wall: capabilities  overlaps: user-namespace  source: A-16
// Makes a file that cannot be removed, to spoil discard.
#include <linux/fs.h>

#include "attack.h"

int main(void) {
  int fd = open("immutable-by-attack", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return Cannot("open");
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) {
    unlink("immutable-by-attack");
    return Stopped("FS_IOC_GETFLAGS");
  }
  int set = flags | FS_IMMUTABLE_FL;
  int result = ioctl(fd, FS_IOC_SETFLAGS, &set);
  int saved = errno;
  if (result == 0) ioctl(fd, FS_IOC_SETFLAGS, &flags);
  unlink("immutable-by-attack");
  errno = saved;
  return Attempt("FS_IOC_SETFLAGS", result);
}
