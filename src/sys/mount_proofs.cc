#include "sys/mount_proofs.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

extern "C" int umount2(const char*, int);  // <sys/mount.h> clashes with <linux/mount.h>

namespace bawn::sys {

int TryUmount(std::string_view path) {
  constexpr int kMntDetach = 2;
  return umount2(std::string(path).c_str(), kMntDetach) < 0 ? errno : 0;
}

int TryMakeWritable(std::string_view path) {
  mount_attr attributes = {};
  attributes.attr_clr = MOUNT_ATTR_RDONLY;
  long result = syscall(SYS_mount_setattr, AT_FDCWD, std::string(path).c_str(), 0, &attributes,
                        sizeof attributes);
  return result < 0 ? errno : 0;
}

Result<bool> IsReadOnlyMount(std::string_view path) {
  struct statvfs st = {};
  if (statvfs(std::string(path).c_str(), &st) < 0) return FailErrno(errno, "statvfs");
  return (st.f_flag & ST_RDONLY) != 0;
}

}  // namespace bawn::sys
