// publish/target.h
// Names in the user's tree, reached so that nothing that a payload (or an earlier apply) put there
// is followed: every parent is opened by openat2(BENEATH | NO_SYMLINKS | NO_MAGICLINKS) from the
// root that is held, every act names one component in it (RT-24, O-13).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace bawn::publish {

// "a/b/c" -> {"a/b", "c"}; "c" -> {"", "c"}.
struct SplitPath {
  std::string parent, name;
};
SplitPath Split(std::string_view path);

// A name and the directory it is in.
struct Spot {
  UniqueFd parent;  // O_PATH
  std::string name;

  static Result<Spot> Open(int root_fd, std::string_view path);
  // Absent when nothing is there.
  Result<std::optional<sys::FileStat>> Look() const;
};

// rename that never replaces; also where the file system has no RENAME_NOREPLACE (by link(2)).
// EEXIST stays an errno.
Result<> MoveToFreeName(const Spot& from, const Spot& to);
// Exchanges two names; EINVAL stays an errno where the file system cannot.
Result<> Exchange(const Spot& a, const Spot& b);

// A new regular file in the directory that has no name yet where the file system can (O_TMPFILE),
// else has `name` at once; Link gives it the name.
struct NewFile {
  UniqueFd fd;
  bool named = false;
};
Result<NewFile> CreateNameless(const Spot& spot);
Result<> GiveName(const NewFile& file, const Spot& spot);

}  // namespace bawn::publish
