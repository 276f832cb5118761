// The bytes of one change, from the layer (by the owner's right) and from the user's tree.
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/changes.h"
#include "workspace/compare.h"
#include "workspace/owner_open.h"

namespace bawn::workspace {
namespace {

// What an open cannot say by its errno: a directory opens for reading, a FIFO too.
Result<UniqueFd> RegularOnly(Result<UniqueFd> fd, const std::string& path) {
  if (!fd) return std::unexpected(AsFileError(WithContext(fd.error(), EscapeName(path))));
  sys::FileStat st = BAWN_TRY(sys::Fstat(fd->get()));
  if (st.IsRegular()) return fd;
  return FailFile(ErrorCode::kFailedPrecondition, EscapeName(path) + " is not a regular file",
                  st.IsDir() ? "is_a_directory" : "special_file");
}

Result<std::string> ReadWhole(UniqueFd fd, const std::string& path, uint64_t bytes_max) {
  sys::FileStat before = BAWN_TRY(sys::Fstat(fd.get()));
  Result<std::string> bytes = sys::ReadAll(fd.get(), bytes_max);
  if (!bytes && bytes.error().code == ErrorCode::kResourceExhausted) {
    return FailFile(ErrorCode::kResourceExhausted,
                    EscapeName(path) + " is larger than " + FormatBytes(bytes_max), "read_limit");
  }
  if (!bytes) return bytes;
  sys::FileStat after = BAWN_TRY(sys::Fstat(fd.get()));
  if (bytes->size() != before.size || before.mtime_ns != after.mtime_ns ||
      before.ctime_ns != after.ctime_ns || before.size != after.size) {
    return FailFile(ErrorCode::kConflict, EscapeName(path) + " changed while it was read",
                    "changed_while_reading");
  }
  return bytes;
}

Result<std::string> ReadTarget(Result<UniqueFd> link) {
  if (!link) return std::unexpected(AsFileError(std::move(link).error()));
  return sys::Readlinkat(link->get(), "");
}

}  // namespace

Result<UniqueFd> OpenNew(const ChangeSet& set, const Change& change) {
  return RegularOnly(OpenPathAsOwner(set.upper.get(), change.path), change.path);
}

Result<UniqueFd> OpenOld(const ChangeSet& set, const Change& change) {
  return RegularOnly(sys::Openat2(set.lower.get(), change.path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
                                  sys::kUntrusted),
                     change.path);
}

Result<std::string> ReadNew(const ChangeSet& set, const Change& change, uint64_t bytes_max) {
  if (change.new_type == EntryType::kSymlink) {
    return ReadTarget(OpenPathAsOwner(set.upper.get(), change.path, OpenAs::kLink));
  }
  return ReadWhole(BAWN_TRY(OpenNew(set, change)), change.path, bytes_max);
}

Result<std::string> ReadOld(const ChangeSet& set, const Change& change, uint64_t bytes_max) {
  if (change.old_type == EntryType::kSymlink) {
    return ReadTarget(
        sys::Openat2(set.lower.get(), change.path, O_PATH | O_NOFOLLOW, 0, sys::kUntrusted));
  }
  return ReadWhole(BAWN_TRY(OpenOld(set, change)), change.path, bytes_max);
}

}  // namespace bawn::workspace
