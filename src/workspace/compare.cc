#include "workspace/compare.h"

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "sys/files.h"

namespace bawn::workspace {
namespace {

constexpr size_t kChunkBytes = 256 << 10;

// Fills `into` unless the file ends.
Result<size_t> ReadFully(int fd, char* into, size_t size) {
  size_t used = 0;
  while (used < size) {
    size_t got = BAWN_TRY(sys::Read(fd, into + used, size - used));
    if (got == 0) break;
    used += got;
  }
  return used;
}

bool SameFile(const sys::FileStat& a, const sys::FileStat& b) {
  return a.ino == b.ino && a.size == b.size && a.mtime_ns == b.mtime_ns && a.ctime_ns == b.ctime_ns;
}

}  // namespace

Result<Compared> CompareFiles(int new_fd, const sys::FileStat& before, int old_fd, bool hash,
                              bool keep) {
  Compared out;
  out.equal = old_fd >= 0;
  const size_t chunk = std::min<size_t>(kChunkBytes, before.size + 1);
  auto fresh = std::make_unique_for_overwrite<char[]>(chunk);
  auto old = std::make_unique_for_overwrite<char[]>(out.equal ? chunk : 0);
  Sha256 sha;
  uint64_t total = 0;
  while (hash || out.equal) {
    size_t got = BAWN_TRY(ReadFully(new_fd, fresh.get(), chunk));
    std::string_view bytes(fresh.get(), got);
    if (hash) sha.Update(bytes);
    if (keep && total == 0 && got < chunk) out.new_bytes = bytes;
    if (out.equal) {
      size_t other = BAWN_TRY(ReadFully(old_fd, old.get(), chunk));
      out.equal = bytes == std::string_view(old.get(), other);
    }
    total += got;
    if (got < chunk) break;
    if (total > before.size) break;  // it grows; the comparison below says so
  }
  sys::FileStat after = BAWN_TRY(sys::Fstat(new_fd));
  bool read_whole = hash || out.equal;
  if (!SameFile(before, after) || (read_whole && total != before.size)) {
    return FailFile(ErrorCode::kConflict, "the file changed while it was read",
                    "changed_while_reading");
  }
  if (hash) out.new_sha256 = sha.Hex();
  return out;
}

std::unexpected<Error> FailFile(ErrorCode code, std::string message, std::string_view kind) {
  auto failed = Fail(code, std::move(message));
  failed.error().kind = kind;
  return failed;
}

Error AsFileError(Error error) {
  if (!error.kind.empty()) return error;
  switch (error.sys_errno) {
    case ENOENT:
      error.kind = "not_found";
      break;
    case ENOTDIR:
      error.kind = "not_a_directory";
      break;
    case EISDIR:
      error.kind = "is_a_directory";
      break;
    case ELOOP:
      error.kind = "symlink";
      break;
    case ENXIO:
    case ENODEV:
      error.kind = "special_file";
      break;
    case EACCES:
    case EPERM:
      error.kind = "denied";
      break;
    default:
      break;
  }
  return error;
}

}  // namespace bawn::workspace
