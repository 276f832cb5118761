#include "workspace/covers.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/index_lookup.h"
#include "workspace/paths.h"

namespace bawn::workspace {
namespace {

Result<> AddFound(int git_dir, const std::string& name, bool sha256,
                  const std::vector<std::string>& paths, std::vector<std::string>* tracked) {
  Result<UniqueFd> fd = sys::Openat2(git_dir, name, O_RDONLY | O_NONBLOCK);
  if (!fd && fd.error().sys_errno == ENOENT) return {};
  if (!fd) return std::unexpected(fd.error());
  std::vector<std::string> found = BAWN_TRY(FindInIndex(fd->get(), sha256, paths));
  tracked->insert(tracked->end(), found.begin(), found.end());
  return {};
}

// Of one repository: `paths` sorted and relative to its work tree. A split index is two files.
Result<std::vector<std::string>> Tracked(const Repository& repository,
                                         const std::vector<std::string>& paths) {
  std::vector<std::string> tracked;
  UniqueFd git_dir = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.git_dir));
  BAWN_CHECK_OK(AddFound(git_dir.get(), "index", repository.sha256, paths, &tracked));
  if (tracked.size() == paths.size()) return tracked;
  for (const std::string& name : BAWN_TRY(SharedIndexes(git_dir.get()))) {
    BAWN_CHECK_OK(AddFound(git_dir.get(), name, repository.sha256, paths, &tracked));
  }
  std::ranges::sort(tracked);
  tracked.erase(std::unique(tracked.begin(), tracked.end()), tracked.end());
  return tracked;
}

// The innermost repository that holds the path.
const Place* Owner(const std::vector<Place>& places, const std::string& path) {
  const Place* best = nullptr;
  for (const Place& place : places) {
    bool holds = place.path.empty() || IsAtOrBelow(path, place.path);
    if (holds && (best == nullptr || place.path.size() >= best->path.size())) best = &place;
  }
  return best;
}

}  // namespace

Result<std::vector<std::string>> FilesToCover(const OpenRequest& request,
                                              std::vector<std::string> candidates,
                                              const std::vector<Place>& places,
                                              std::vector<std::string>* notes) {
  std::erase_if(candidates, [&](const std::string& path) {
    return std::ranges::find(request.show, JoinPath(request.root, path)) != request.show.end();
  });
  std::map<const Place*, std::vector<std::string>> by_place;
  for (const std::string& path : candidates) by_place[Owner(places, path)].push_back(path);
  std::vector<std::string> cover;
  for (auto& [place, paths] : by_place) {
    std::ranges::sort(paths);
    if (place == nullptr) {
      cover.insert(cover.end(), paths.begin(), paths.end());
      continue;
    }
    std::vector<std::string> relative;
    for (const std::string& path : paths) {
      relative.push_back(place->path.empty() ? path : RelativeTo(path, place->path));
    }
    Result<std::vector<std::string>> tracked = Tracked(place->repository, relative);
    if (!tracked) {
      notes->push_back("git: " + tracked.error().message + "; protected names in " +
                       EscapeName(place->repository.work_tree) + " are covered, tracked or not");
      tracked.emplace();
    }
    for (const std::string& path : relative) {
      if (std::ranges::binary_search(*tracked, path)) continue;
      cover.push_back(JoinPath(place->path, path));
    }
  }
  std::ranges::sort(cover);
  return cover;
}

}  // namespace bawn::workspace
