// workspace/files.h
// Small compositions on files that several parts of the opening need.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/files.h"

namespace bawn::workspace {

// A file that must not exist yet, mode 0644 under the umask.
Result<> WriteNew(int dirfd, const std::string& name, std::string_view bytes);

// A regular file copied (reflinked where the file system can) to a new name, with the permission
// bits and the modification time of `st`; setuid, setgid and sticky are dropped.
Result<sys::CopyHow> CopyFileHow(int from, const std::string& from_name, int to,
                                 const std::string& to_name, const sys::FileStat& st);
Result<> CopyFile(int from, const std::string& from_name, int to, const std::string& to_name,
                  const sys::FileStat& st);

}  // namespace bawn::workspace
