#include "publish/tree.h"

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace bawn::publish {
namespace {

// The changes as a tree of names. Depth is bounded by the length of a path.
struct Node {
  const TreeChange* change = nullptr;  // of this very path
  std::map<std::string, std::unique_ptr<Node>, std::less<>> below;
};

void Insert(Node& root, const TreeChange& change) {
  Node* at = &root;
  std::string_view left = change.path;
  while (true) {
    size_t slash = left.find('/');
    std::string name(left.substr(0, slash));
    std::unique_ptr<Node>& next = at->below[name];
    if (!next) next = std::make_unique<Node>();
    at = next.get();
    if (slash == std::string_view::npos) break;
    left.remove_prefix(slash + 1);
  }
  at->change = &change;
}

bool AddsAnything(const Node& node) {
  if (node.change != nullptr && !node.change->oid.empty()) return true;
  for (const auto& [name, below] : node.below) {
    if (AddsAnything(*below)) return true;
  }
  return false;
}

Result<std::vector<git::TreeEntry>> Merge(git::Repo& repo, const git::Oid& base, const Node& node);

// What stands under one name afterwards; an empty oid: nothing.
Result<git::TreeEntry> MergeName(git::Repo& repo, const std::string& name,
                                 const git::TreeEntry* old, const Node& node) {
  if (node.change != nullptr && !node.change->oid.empty()) {
    return git::TreeEntry{name, node.change->mode, node.change->oid};
  }
  bool was_tree = old != nullptr && old->mode == git::FileMode::kTree;
  if (node.below.empty()) {
    if (node.change != nullptr || old == nullptr) return git::TreeEntry{name, {}, {}};
    return *old;
  }
  if (old != nullptr && !was_tree && node.change == nullptr && AddsAnything(node)) {
    return Fail(ErrorCode::kFailedPrecondition,
                EscapeName(name) + " is a file in the base, and something was added below it",
                "select the path itself too", "publish.path");
  }
  if (old != nullptr && !was_tree && node.change == nullptr) return *old;
  std::vector<git::TreeEntry> entries =
      BAWN_TRY(Merge(repo, was_tree ? old->oid : git::Oid(), node));
  if (entries.empty()) return git::TreeEntry{name, {}, {}};
  return git::TreeEntry{name, git::FileMode::kTree, BAWN_TRY(repo.AddTree(entries))};
}

Result<std::vector<git::TreeEntry>> Merge(git::Repo& repo, const git::Oid& base, const Node& node) {
  std::vector<git::TreeEntry> old;
  if (!base.empty()) old = BAWN_TRY(repo.ReadTree(base));
  std::vector<git::TreeEntry> merged;
  std::map<std::string_view, const git::TreeEntry*> changed;
  for (const git::TreeEntry& entry : old) {
    if (node.below.contains(entry.name)) {
      changed[entry.name] = &entry;
    } else {
      merged.push_back(entry);
    }
  }
  for (const auto& [name, below] : node.below) {
    auto found = changed.find(name);
    git::TreeEntry entry =
        BAWN_TRY(MergeName(repo, name, found == changed.end() ? nullptr : found->second, *below));
    if (!entry.oid.empty()) merged.push_back(std::move(entry));
  }
  return merged;
}

}  // namespace

Result<git::Oid> BuildTree(git::Repo& repo, const git::Oid& base_tree,
                           const std::vector<TreeChange>& changes) {
  Node root;
  for (const TreeChange& change : changes) Insert(root, change);
  return repo.AddTree(BAWN_TRY(Merge(repo, base_tree, root)));
}

}  // namespace bawn::publish
