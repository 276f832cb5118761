// publish/inside_trees.h
// The trees of commits made inside, each compared with the trees of its parents: only where it
// differs from all of them is anything looked at, and everything that is looked at is checked.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "publish/inside.h"

namespace bawn::publish {

class InsideTrees {
 public:
  InsideTrees(git::Repo& repo, const git::ObjectStream& stream) : repo_(repo), stream_(stream) {}

  // Parents before children: what a parent's tree holds counts as there.
  Result<> Compare(const git::Oid& tree, const std::vector<git::Oid>& parents);
  std::vector<Touched> TakeTouched();
  std::vector<git::Oid> TakeObjects() { return std::move(objects_); }

 private:
  using Entries = std::vector<git::TreeEntry>;
  struct Place {
    std::string path;  // of the directory, "" at the top
    size_t depth = 0;
  };
  Result<const Entries*> Load(const Place& place, const git::Oid& tree);  // "": an empty one
  Result<> Directory(const Place& place, const git::Oid& tree,
                     const std::vector<git::Oid>& parents);
  Result<> Name(const Place& place, const std::string& name, const git::TreeEntry* now,
                const std::vector<const git::TreeEntry*>& parents);
  Result<> Note(std::string path, const git::TreeEntry* now, const git::TreeEntry* before);
  Result<> CheckPresent(const std::string& path, const git::TreeEntry& entry);
  void Need(const git::Oid& oid);

  git::Repo& repo_;
  const git::ObjectStream& stream_;
  std::unordered_map<git::Oid, Entries> loaded_;
  std::unordered_set<git::Oid> needed_;
  std::vector<git::Oid> objects_;
  std::vector<Touched> touched_;
  size_t directories_ = 0;  // looked at
};

}  // namespace bawn::publish
