// sys/scan.h
// Bounded looks at directories of any size: the first entries of one, and the names of extended
// attributes. Sources: getdents64(2), flistxattr(2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/files.h"

namespace bawn::sys {

// At most `entries_max` entries but "." and ".." from the start of a directory descriptor; reading
// stops there, so a directory of millions costs no more. `complete` says whether those were all.
Result<std::vector<DirEntry>> ListSome(int dirfd, size_t entries_max, bool* complete);

// Empty where the file system has none or knows none.
Result<std::vector<std::string>> XattrNames(int fd);

// FS_CASEFOLD_FL of ioctl_iflags(2): names that differ in case are one. False where unknown.
bool IsCaseFolded(int dirfd);

}  // namespace bawn::sys
