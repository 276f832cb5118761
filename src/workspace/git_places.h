// workspace/git_places.h
// Where git directories stand in the view, and the private ones written there: the workspace's own,
// its submodules' and those of repositories nested in the tree. A git directory inside the tree is
// replaced in the initial layer; one outside (a linked work tree's, a submodule's own root) appears
// at its real path from `<sandbox>/git/base`, so absolute and relative pointers both work (O-18).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workspace/initial.h"
#include "workspace/open.h"
#include "workspace/private_git.h"

namespace bawn::workspace {

inline constexpr size_t kNestedPrivateMax =
    32;  // scanned ones with a private copy; more are hidden

// A repository whose work tree is the workspace or lies in it.
struct Place {
  std::string path;  // of the work tree, relative to the workspace
  Repository repository;
};

class GitPlaces {
 public:
  // `shown_root`: the workspace's path in the view. `sandbox_fd`: where git/base is made. With
  // `ops` the workspace's own private git directory goes there (workspace/git_files.h). All
  // borrowed.
  GitPlaces(const OpenRequest& request, std::string shown_root, int sandbox_fd,
            InitialLayer* initial, std::vector<plan::Op>* ops)
      : request_(request),
        shown_root_(std::move(shown_root)),
        sandbox_fd_(sandbox_fd),
        initial_(initial),
        ops_(ops) {}

  // The workspace's own repository and its submodules.
  Result<> AddOwn(const Repository& repository);
  // Directories of the scan that hold a `.git`.
  Result<> AddNested(const std::vector<std::string>& directories);

  const std::vector<Place>& places() const { return places_; }
  // Real path of what git/base holds; empty: nothing.
  const std::string& target() const { return target_; }
  const std::vector<std::string>& object_dirs() const { return object_dirs_; }
  const std::vector<std::string>& hidden() const { return hidden_; }  // relative; named in covered
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // A private common directory: the host's path of the original and ours.
  struct Common {
    std::string host;
    std::string shown_at;
    UniqueFd fd;
  };

  Result<> Add(const std::string& path, const Repository& repository, const GitConfig& config);
  Result<> Hide(const std::string& path, const std::string& why);
  Result<> HidePointed(const std::string& path);
  Result<> HideReal(const std::string& path, const std::string& real);
  Result<UniqueFd> MakeCommon(const std::string& path, const Repository& repository,
                              std::string* shown_at);
  Result<> WriteIntoPlan(PrivateGit git);
  Result<> Write(const std::string& path, const Repository& repository, const GitConfig& config);
  PrivateGit Describe(const std::string& path, const Repository& repository,
                      const GitConfig& config);
  std::string ObjectPath(const std::string& real);
  bool IsKnown(const std::string& path) const;

  const OpenRequest& request_;
  std::string shown_root_;
  int sandbox_fd_;
  InitialLayer* initial_;
  std::vector<plan::Op>* ops_;
  std::vector<Place> places_;
  std::vector<Common> commons_;
  std::string target_;
  std::vector<std::string> object_dirs_, hidden_, notes_;
};

}  // namespace bawn::workspace
