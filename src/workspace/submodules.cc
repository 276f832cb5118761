// Populated submodules by .gitmodules, which costs one open where there are none; the index would
// have to be read whole to find its gitlinks. A gitlink that .gitmodules does not name is met by
// the bounded scan at open (scan.h), like any nested repository.
#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

bool IsPlainRelative(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.ends_with('/')) return false;
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = path.substr(at, end - at);
    if (part.empty() || part == "." || part == ".." || part == ".git") return false;
    at = end + 1;
  }
  return true;
}

Result<> ReadBelow(const std::string& prefix, int depth, Repository* repository) {
  const std::string top = repository->work_tree + (prefix.empty() ? "" : "/" + prefix);
  Result<UniqueFd> fd = sys::Openat2(AT_FDCWD, top, O_PATH | O_DIRECTORY);
  if (!fd) return std::unexpected(fd.error());
  Result<std::string> text =
      sys::ReadFileAt(fd->get(), ".gitmodules", kConfigFileMax, sys::kUntrusted);
  if (!text) {
    if (text.error().sys_errno == ENOENT || text.error().sys_errno == ELOOP) return {};
    return std::unexpected(text.error());
  }
  for (const ConfigEntry& entry : BAWN_TRY(ParseConfigText(*text, top + "/.gitmodules"))) {
    if (!entry.key.starts_with("submodule.") || !entry.key.ends_with(".path")) continue;
    if (!entry.value || !IsPlainRelative(*entry.value)) continue;  // git ignores it, too
    Result<UniqueFd> below =
        sys::Openat2(fd->get(), *entry.value, O_PATH | O_DIRECTORY, 0, sys::kUntrusted);
    if (!below || !sys::Fstatat(below->get(), ".git")) continue;  // not populated
    std::string path = (prefix.empty() ? "" : prefix + "/") + *entry.value;
    std::optional<Repository> found =
        BAWN_TRY(ReadRepositoryAt(repository->work_tree + "/" + path));
    if (!found) continue;
    if (repository->submodules.size() >= kSubmodulesMax || depth >= kSubmoduleDepthMax) {
      return Fail(ErrorCode::kResourceExhausted,
                  "too many submodules, or nested too deep, at " + EscapeName(path));
    }
    repository->submodules.push_back({path, found->git_dir});
    BAWN_CHECK_OK(ReadBelow(path, depth + 1, repository));
  }
  return {};
}

}  // namespace

Result<> ReadSubmodules(Repository* repository) { return ReadBelow("", 0, repository); }

}  // namespace bawn::workspace
