#include "base/result.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace bawn {

std::string ErrnoName(int sys_errno) {
  const char* name = strerrorname_np(sys_errno);
  return name != nullptr ? name : "errno " + std::to_string(sys_errno);
}

std::unexpected<Error> FailErrno(int sys_errno, std::string_view what) {
  Error error;
  error.code = ErrorCode::kSystem;
  error.sys_errno = sys_errno;
  error.message = std::string(what) + ": " + ErrnoName(sys_errno);
  return std::unexpected<Error>(std::move(error));
}

bool IsMomentary(const Error& error) {
  constexpr int kShort[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOLCK, EAGAIN, EINTR};
  return error.code == ErrorCode::kSystem &&
         std::ranges::find(kShort, error.sys_errno) != std::end(kShort);
}

Error WithContext(Error error, std::string_view context) {
  error.message = std::string(context) + ": " + error.message;
  return error;
}

}  // namespace bawn
