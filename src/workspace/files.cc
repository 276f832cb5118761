#include "workspace/files.h"

namespace bawn::workspace {

Result<> WriteNew(int dirfd, const std::string& name, std::string_view bytes) {
  UniqueFd fd = BAWN_TRY(sys::Openat2(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  return sys::WriteAll(fd.get(), bytes);
}

Result<sys::CopyHow> CopyFileHow(int from, const std::string& from_name, int to,
                                 const std::string& to_name, const sys::FileStat& st) {
  UniqueFd source = BAWN_TRY(sys::Openat2(from, from_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  UniqueFd copy =
      BAWN_TRY(sys::Openat2(to, to_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  sys::CopyHow how = BAWN_TRY(sys::CopyContents(source.get(), copy.get()));
  BAWN_CHECK_OK(sys::Fchmod(copy.get(), st.mode & 0777));
  BAWN_CHECK_OK(sys::Utimensat(to, to_name, st.mtime_ns, AT_SYMLINK_NOFOLLOW));
  return how;
}

Result<> CopyFile(int from, const std::string& from_name, int to, const std::string& to_name,
                  const sys::FileStat& st) {
  BAWN_CHECK_OK(CopyFileHow(from, from_name, to, to_name, st));
  return {};
}

}  // namespace bawn::workspace
