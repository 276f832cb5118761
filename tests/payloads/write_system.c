// wall: mounts  overlaps: landlock, uid  source: DESIGN 5
// Opens system files for writing.
#include "attack.h"

int main(void) {
  static const char* const kPaths[] = {
      "/etc/passwd", "/etc/hosts",          "/etc/ld.so.cache",           "/usr/bin/env",
      "/bin/sh",     "/usr/lib/os-release", "/lib64/ld-linux-x86-64.so.2"};
  for (size_t i = 0; i < sizeof kPaths / sizeof *kPaths; ++i) {
    if (open(kPaths[i], O_WRONLY | O_APPEND | O_CLOEXEC) >= 0) return Succeeded(kPaths[i]);
  }
  return Stopped("open for writing");
}
