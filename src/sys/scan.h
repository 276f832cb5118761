// sys/scan.h
// Bounded looks at directories of any size: entries one by one, and the names of extended
// attributes. Sources: getdents64(2), flistxattr(2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/files.h"

namespace bawn::sys {

// One entry while it is visited; `name` is valid during the visit only.
struct SeenEntry {
  std::string_view name;
  unsigned char type = 0;  // DT_*; DT_UNKNOWN is possible
};
using VisitEntry = bool (*)(void* context, const SeenEntry& entry);

// Calls `visit` for every entry but "." and ".." of a directory descriptor, from where it stands,
// until it returns false. Reading stops there, so a directory of millions costs no more.
Result<> VisitDir(int dirfd, VisitEntry visit, void* context);
// The same with a callable.
template <class F>
Result<> ForEachEntry(int dirfd, F visit) {
  return VisitDir(
      dirfd, [](void* f, const SeenEntry& entry) { return (*static_cast<F*>(f))(entry); }, &visit);
}

// Empty where the file system has none or knows none.
Result<std::vector<std::string>> XattrNames(int fd);

// FS_CASEFOLD_FL of ioctl_iflags(2): names that differ in case are one. False where unknown.
bool IsCaseFolded(int dirfd);

}  // namespace bawn::sys
