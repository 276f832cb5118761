#include "workspace/copy_tree.h"

#include <cerrno>
#include <string_view>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/files.h"
#include "workspace/paths.h"

namespace bawn::workspace {
namespace {

class Copier {
 public:
  explicit Copier(const CopyOptions& options) : options_(options) {}

  Result<> Directory(int from, int to, const std::string& path, int depth) {
    if (depth > kCopyDepthMax) {
      return Fail(ErrorCode::kResourceExhausted,
                  EscapeName(path) + " is nested deeper than " + std::to_string(kCopyDepthMax));
    }
    uint64_t left = options_.entries_max - report.entries;
    Result<std::vector<sys::DirEntry>> entries = sys::ListDir(from, left);
    if (!entries && entries.error().code == ErrorCode::kResourceExhausted) return TooMany();
    if (!entries) return std::unexpected(entries.error());
    for (const sys::DirEntry& entry : *entries) {
      std::string name = JoinPath(path, entry.name);
      if (options_.skip.contains(name)) continue;
      if (++report.entries > options_.entries_max) return TooMany();
      BAWN_CHECK_OK(Entry(from, to, entry.name, name, depth));
    }
    return {};
  }

  CopyReport report;

 private:
  std::unexpected<Error> TooMany() const {
    return Fail(ErrorCode::kResourceExhausted,
                "more than " + std::to_string(options_.entries_max) + " files");
  }

  Result<> Entry(int from, int to, const std::string& name, const std::string& path, int depth) {
    Result<sys::FileStat> st = sys::Fstatat(from, name);
    if (!st && st.error().sys_errno == ENOENT) return {};  // removed meanwhile
    if (!st) return std::unexpected(st.error());
    if (st->IsDir()) return Below(from, to, name, path, *st, depth);
    if (st->IsRegular()) return File(from, to, name, path, *st);
    if (!st->IsSymlink()) {
      report.special.push_back(path);
      return {};
    }
    std::string target = BAWN_TRY(sys::Readlinkat(from, name));
    BAWN_CHECK_OK(sys::Symlinkat(target, to, name));
    return sys::Utimensat(to, name, st->mtime_ns, AT_SYMLINK_NOFOLLOW);
  }

  Result<> Below(int from, int to, const std::string& name, const std::string& path,
                 const sys::FileStat& st, int depth) {
    Result<UniqueFd> source = sys::Openat2(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!source) {
      if (source.error().sys_errno != EACCES) return std::unexpected(source.error());
      report.unreadable.push_back(path);
      return {};
    }
    Result<> made = sys::Mkdirat(to, name, 0700);
    if (!made && made.error().sys_errno != EEXIST) return made;
    UniqueFd copy = BAWN_TRY(sys::Openat2(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    BAWN_CHECK_OK(Directory(source->get(), copy.get(), path, depth + 1));
    BAWN_CHECK_OK(sys::Fchmod(copy.get(), st.mode & 0777));
    return sys::Utimensat(to, name, st.mtime_ns, AT_SYMLINK_NOFOLLOW);
  }

  Result<> File(int from, int to, const std::string& name, const std::string& path,
                const sys::FileStat& st) {
    // Until one reflink worked, every file must fit: nothing is copied that the limit forbids.
    if (!reflinks_ && report.bytes + st.size > options_.bytes_max) return TooLarge();
    Result<sys::CopyHow> how = CopyFileHow(from, name, to, name, st);
    if (!how) {
      if (how.error().sys_errno != EACCES) return std::unexpected(how.error());
      report.unreadable.push_back(path);
      return {};
    }
    if (*how == sys::CopyHow::kReflink) {
      reflinks_ = true;
      return {};
    }
    if (st.size == 0) return {};
    report.any_plain = true;
    report.bytes += st.size;
    return report.bytes > options_.bytes_max ? Result<>(TooLarge()) : Result<>();
  }

  std::unexpected<Error> TooLarge() const {
    return Fail(ErrorCode::kResourceExhausted, "more than " + FormatBytes(options_.bytes_max));
  }

  const CopyOptions& options_;
  bool reflinks_ = false;
};

}  // namespace

Result<CopyReport> CopyTree(int from, int to, const CopyOptions& options) {
  Copier copier(options);
  BAWN_CHECK_OK(copier.Directory(from, to, "", 0));
  return std::move(copier.report);
}

}  // namespace bawn::workspace
