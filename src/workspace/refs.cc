// HEAD, loose refs, packed-refs and symbolic refs. A loose ref hides the packed one of its name.
// Refs of a single work tree (refs/bisect, refs/worktree, refs/rewritten) and Bawn's own pins stay
// out: the private copy is a work tree of its own, and pins name other sandboxes.
#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

constexpr size_t kRefDepthMax = 64;

bool IsLeftOut(std::string_view name) {
  for (std::string_view prefix :
       {"refs/bisect/", "refs/worktree/", "refs/rewritten/", "refs/bawn/"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

std::unexpected<Error> BadRef(const std::string& directory, std::string_view name,
                              std::string_view why) {
  return Fail(ErrorCode::kFailedPrecondition,
              EscapeName(directory) + "/" + EscapeName(name) + " " + std::string(why),
              "git fsck says more", "repository.ref");
}

using RefMap = std::map<std::string, std::string, std::less<>>;

struct Reader {
  const std::string& git_path;  // for messages
  const std::string& common_path;
  RefMap values;    // name -> hex
  RefMap symbolic;  // name -> name

  Result<> ReadPacked(int common) {
    std::optional<std::string> text = BAWN_TRY(ReadIfExists(common, "packed-refs", kPackedRefsMax));
    if (!text) return {};
    for (std::string_view line : Lines(*text)) {
      if (line.starts_with('#') || line.starts_with('^')) continue;
      size_t space = line.find(' ');
      if (space == std::string_view::npos || !IsObjectName(line.substr(0, space))) {
        return BadRef(common_path, "packed-refs", "has a line that is no ref");
      }
      std::string_view name = TrimRight(line.substr(space + 1));
      if (!IsSafeRefName(name) || IsLeftOut(name)) continue;
      // Usually sorted: then each goes to the end.
      values.emplace_hint(values.end(), name, line.substr(0, space));
      if (values.size() > kRefsMax) return BadRef(common_path, "packed-refs", "has too many refs");
    }
    return {};
  }

  // One value in either form, as HEAD and loose refs hold it.
  Result<> Take(const std::string& directory, const std::string& name, std::string_view text) {
    text = TrimRight(text);
    if (text.starts_with("ref:")) {
      text.remove_prefix(4);
      text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
      if (!IsSafeRefName(text)) return BadRef(directory, name, "names no ref");
      symbolic[name] = std::string(text);
      values.erase(name);
      return {};
    }
    // Anything behind the object name is ignored by git.
    std::string_view hex = text.substr(0, std::min(text.find_first_of(" \t\n"), text.size()));
    if (!IsObjectName(hex))
      return BadRef(directory, name, "holds neither a ref nor an object name");
    values[name] = std::string(hex);
    return {};
  }

  Result<> ReadLoose(int directory, const std::string& prefix, size_t depth) {
    if (depth > kRefDepthMax) return BadRef(common_path, prefix, "is nested too deep");
    for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(directory, kRefsMax))) {
      std::string name = prefix + entry.name;
      if (IsLeftOut(name + "/")) continue;
      if (entry.type == DT_DIR) {
        UniqueFd below = BAWN_TRY(sys::OpenDir(directory, entry.name, sys::kNoSymlinks));
        BAWN_CHECK_OK(ReadLoose(below.get(), name + "/", depth + 1));
        continue;
      }
      if (!IsSafeRefName(name)) continue;  // "x.lock" and what else git would not list
      std::optional<std::string> text =
          BAWN_TRY(ReadIfExists(directory, entry.name, kSmallFileMax));
      if (!text || TrimRight(*text).empty()) continue;  // deleted meanwhile; torn by a power loss
      BAWN_CHECK_OK(Take(common_path, name, *text));
      if (values.size() > kRefsMax) return BadRef(common_path, prefix, "has too many refs");
    }
    return {};
  }

  Result<> ReadHead(int git_dir, Repository* repository) {
    // Very old repositories have a symbolic link; its text is the ref's name.
    Result<std::string> link = sys::Readlinkat(git_dir, "HEAD");
    std::string text = link && IsSafeRefName(*link)
                           ? "ref: " + *link
                           : BAWN_TRY(sys::ReadFileAt(git_dir, "HEAD", kSmallFileMax));
    BAWN_CHECK_OK(Take(git_path, "HEAD", text));
    if (auto at = symbolic.find("HEAD"); at != symbolic.end()) repository->head_ref = at->second;
    repository->head_commit = Resolve("HEAD");
    values.erase("HEAD");
    symbolic.erase("HEAD");
    return {};
  }

  std::string Resolve(std::string name) const {
    for (int i = 0; i <= kSymbolicDepthMax; ++i) {
      if (auto at = values.find(name); at != values.end()) return at->second;
      auto next = symbolic.find(name);
      if (next == symbolic.end()) return {};
      name = next->second;
    }
    return {};
  }
};

}  // namespace

Result<> ReadRefs(int git_dir_fd, int common_dir_fd, Repository* repository) {
  Reader reader{repository->git_dir, repository->common_dir, {}, {}};
  BAWN_CHECK_OK(reader.ReadPacked(common_dir_fd));
  Result<UniqueFd> refs = sys::OpenDir(common_dir_fd, "refs");
  if (!refs) return BadRef(repository->common_dir, "refs", "cannot be opened");
  BAWN_CHECK_OK(reader.ReadLoose(refs->get(), "refs/", 0));
  BAWN_CHECK_OK(reader.ReadHead(git_dir_fd, repository));
  repository->refs.assign(std::make_move_iterator(reader.values.begin()),
                          std::make_move_iterator(reader.values.end()));
  repository->symbolic_refs.assign(reader.symbolic.begin(), reader.symbolic.end());
  return {};
}

}  // namespace bawn::workspace
