// The chain of object directories (cases E-14). Entries are absolute or relative to the object
// directory that names them; '#' starts a comment line, a '"' a C-quoted entry. A missing one is
// remembered by name, so that it is said at open and not by git in the middle of a build.
#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

constexpr size_t kObjectDirsMax = 64;

Result<> Follow(const UniqueFd& objects, int depth, Repository* repository) {
  std::string path = BAWN_TRY(PathOfFd(objects.get()));
  std::vector<std::string>& dirs = repository->object_dirs;
  if (std::find(dirs.begin(), dirs.end(), path) != dirs.end()) return {};
  if (dirs.size() >= kObjectDirsMax) {
    return Fail(ErrorCode::kResourceExhausted, "more than " + std::to_string(kObjectDirsMax) +
                                                   " object directories behind " +
                                                   EscapeName(repository->common_dir));
  }
  dirs.push_back(path);
  std::optional<std::string> text =
      BAWN_TRY(ReadIfExists(objects.get(), "info/alternates", kSmallFileMax));
  if (!text) return {};
  for (std::string_view line : Lines(*text)) {
    if (line.empty() || line.starts_with('#')) continue;
    size_t end = 0;
    std::string entry = UnquoteC(line, &end).value_or(std::string(line));
    Result<UniqueFd> next = sys::OpenDir(objects.get(), entry);
    if (!next || depth >= kAlternatesDepthMax) {
      repository->missing_alternates.push_back(entry);
      continue;
    }
    BAWN_CHECK_OK(Follow(*next, depth + 1, repository));
  }
  return {};
}

}  // namespace

Result<> ReadObjectDirs(int common_dir_fd, Repository* repository) {
  Result<UniqueFd> objects = sys::OpenDir(common_dir_fd, "objects");
  if (!objects) {
    return std::unexpected(WithContext(objects.error(), EscapeName(repository->common_dir)));
  }
  return Follow(*objects, 0, repository);
}

}  // namespace bawn::workspace
