// workspace/compare.h
// Content of two regular files, read once and side by side: the digest of the new one and whether
// the old one holds the same bytes. A file that changes while it is read is an error of that name.
#pragma once

#include <string>

#include "base/result.h"

namespace bawn::workspace {

struct Compared {
  std::string new_sha256;  // empty when not asked for
  bool equal = false;      // false when there is no old file
};

// `old_fd` may be -1. Without `hash` reading stops at the first difference. Both are read from
// their start and stay open. kind `changed_while_reading` when size, mtime or ctime of the new file
// moved or fewer or more bytes came than its size.
Result<Compared> CompareFiles(int new_fd, int old_fd, bool hash);

// An error whose `kind` is one of DESIGN 8's file errors.
std::unexpected<Error> FailFile(ErrorCode code, std::string message, std::string_view kind);
// Maps the errno of an open or read to its kind; other errors pass unchanged.
Error AsFileError(Error error);

}  // namespace bawn::workspace
