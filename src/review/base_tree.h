// review/base_tree.h
// The tree of the base commit, one directory read at a time, as far as changed paths need it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "git/repo.h"

namespace bawn::review {

std::string_view ParentOf(std::string_view path);  // "" at the top

class BaseTree {
 public:
  // `repo` may be null and `commit` empty: then nothing is tracked.
  static Result<BaseTree> Open(git::Repo* repo, const git::Oid& commit);

  // What the commit has at `path`: null when nothing, or when it is a directory there.
  Result<const git::TreeEntry*> Find(std::string_view path);
  // The submodule (gitlink) that is `path` or contains it; empty: none.
  Result<std::string> SubmoduleOf(std::string_view path);

 private:
  struct Directory {
    git::Tree tree;
    // What was asked for; where an entry is stays the same.
    std::map<std::string, std::optional<git::TreeEntry>, std::less<>> entries;
    std::string submodule;

    const git::TreeEntry* Entry(std::string_view name);
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  Result<Directory*> Load(std::string_view directory);

  git::Repo* repo_ = nullptr;
  git::Oid root_;  // empty: nothing is tracked
  std::unordered_map<std::string, std::unique_ptr<Directory>, Hash, std::equal_to<>> directories_;
};

}  // namespace bawn::review
