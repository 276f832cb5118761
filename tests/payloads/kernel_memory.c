// wall: mounts  overlaps: uid  source: DESIGN 5
// Opens devices that show memory, disks or hypervisors.
#include "attack.h"

int main(void) {
  static const char* const kPaths[] = {"/dev/mem",     "/dev/kmsg",         "/dev/kvm",
                                       "/dev/fuse",    "/dev/vda",          "/dev/sda",
                                       "/dev/net/tun", "/dev/loop-control", "/proc/kcore"};
  for (size_t i = 0; i < sizeof kPaths / sizeof *kPaths; ++i) {
    if (open(kPaths[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0) return Succeeded(kPaths[i]);
  }
  return Stopped("open");
}
