#include "review/base_tree.h"

namespace bawn::review {

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

namespace {

std::string NameOf(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace

Result<BaseTree> BaseTree::Open(git::Repo* repo, const git::Oid& commit) {
  BaseTree tree;
  tree.repo_ = repo;
  if (repo != nullptr && !commit.empty()) tree.root_ = BAWN_TRY(repo->TreeOfCommit(commit));
  return tree;
}

Result<const BaseTree::Directory*> BaseTree::Load(std::string_view directory) {
  const std::string key(directory);
  if (const auto known = directories_.find(key); known != directories_.end()) {
    return known->second.get();
  }
  auto loaded = std::make_unique<Directory>();
  git::Oid tree;
  if (directory.empty()) {
    tree = root_;
  } else {
    const Directory* parent = BAWN_TRY(Load(ParentOf(directory)));
    loaded->submodule = parent->submodule;
    const auto entry = parent->entries.find(NameOf(directory));
    if (entry != parent->entries.end()) {
      if (entry->second.mode == git::FileMode::kTree) tree = entry->second.oid;
      if (entry->second.mode == git::FileMode::kGitlink) loaded->submodule = key;
    }
  }
  if (!tree.empty()) {
    for (git::TreeEntry& entry : BAWN_TRY(repo_->ReadTree(tree))) {
      std::string name = entry.name;
      loaded->entries.emplace(std::move(name), std::move(entry));
    }
  }
  const Directory* result = loaded.get();
  directories_.emplace(key, std::move(loaded));
  return result;
}

Result<const git::TreeEntry*> BaseTree::Find(std::string_view path) {
  const Directory* directory = BAWN_TRY(Load(ParentOf(path)));
  const auto entry = directory->entries.find(NameOf(path));
  if (entry == directory->entries.end() || entry->second.mode == git::FileMode::kTree) {
    return nullptr;
  }
  return &entry->second;
}

Result<std::string> BaseTree::SubmoduleOf(std::string_view path) {
  const git::TreeEntry* entry = BAWN_TRY(Find(path));
  if (entry != nullptr && entry->mode == git::FileMode::kGitlink) return std::string(path);
  return BAWN_TRY(Load(ParentOf(path)))->submodule;
}

}  // namespace bawn::review
