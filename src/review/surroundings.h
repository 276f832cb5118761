// review/surroundings.h
// What the result of a sandbox (its changes over the user's tree) holds around a changed path: a
// directory that git would take for a repository of its own.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "workspace/changes.h"

namespace bawn::review {

class Surroundings {
 public:
  explicit Surroundings(const workspace::ChangeSet& set) : set_(set) {}

  // A directory above `path` (not the workspace itself) with a .git in it; empty: none. git would
  // take it for another repository and not add the path.
  std::string NestedRepository(std::string_view path);
  // A directory above `path`, or `path`, that looks like a git directory under another name: HEAD
  // with objects and refs, or with commondir (git's is_git_directory). "." is the workspace.
  std::string BareRepository(std::string_view path);

 private:
  bool Exists(const std::string& path) const;
  // Of one directory: itself, or the nearest above it, that is such a thing.
  struct Facts {
    const std::string* nested = nullptr;
    const std::string* bare = nullptr;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  const Facts& Of(std::string_view directory);

  const workspace::ChangeSet& set_;
  std::unordered_map<std::string, Facts, Hash, std::equal_to<>> facts_;  // keys stay where they are
};

}  // namespace bawn::review
