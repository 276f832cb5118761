#include "sys/sealed.h"

#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "sys/files.h"

namespace bawn::sys {

Result<std::string> ReadWhole(int fd, size_t bytes_max) {
  FileStat stat = BAWN_TRY(Fstat(fd));
  if (stat.size > bytes_max) {
    return Fail(ErrorCode::kResourceExhausted,
                "more than the limit of " + std::to_string(bytes_max) + " bytes");
  }
  std::string bytes;
  int error = 0;
  bytes.resize_and_overwrite(stat.size, [&](char* data, size_t size) {
    size_t used = 0;
    while (used < size) {
      ssize_t got = pread(fd, data + used, size - used, static_cast<off_t>(used));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) error = errno;
      if (got <= 0) break;
      used += static_cast<size_t>(got);
    }
    return used;
  });
  if (error != 0) return FailErrno(error, "pread");
  return bytes;
}

bool MemoryKeepsUserAttributes() {
  UniqueFd file(memfd_create("bawn-probe", MFD_CLOEXEC));
  return file.valid() && fsetxattr(file.get(), "user.bawn", "1", 1, 0) == 0;
}

}  // namespace bawn::sys
