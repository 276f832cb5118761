// workspace/compare.h
// Content of two regular files, read once and side by side: the digest of the new one and whether
// the old one holds the same bytes. A file that changes while it is read is an error of that name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/files.h"

namespace bawn::workspace {

struct Compared {
  std::string new_sha256;                // empty when not asked for
  bool equal = false;                    // false when there is no old file
  std::optional<std::string> new_bytes;  // of a file that one read took whole, with `keep`
};

// `before`: what a look at the new file showed before it was opened. `old_fd` may be -1; otherwise
// the old file had the same size. Without `hash` reading stops at the first difference. Both are
// read from where they stand. kind `changed_while_reading` when the descriptor's inode, size, mtime
// or ctime is not that of `before` at the end, or fewer or more bytes came than the size.
Result<Compared> CompareFiles(int new_fd, const sys::FileStat& before, int old_fd, bool hash,
                              bool keep = false);

// An error whose `kind` is one of DESIGN 8's file errors.
std::unexpected<Error> FailFile(ErrorCode code, std::string message, std::string_view kind);
// Maps the errno of an open or read to its kind; other errors pass unchanged.
Error AsFileError(Error error);

}  // namespace bawn::workspace
