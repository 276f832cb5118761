#include "review/base_tree.h"

namespace bawn::review {

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

namespace {

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Result<BaseTree> BaseTree::Open(git::Repo* repo, const git::Oid& commit) {
  BaseTree tree;
  tree.repo_ = repo;
  if (repo != nullptr && !commit.empty()) tree.root_ = BAWN_TRY(repo->TreeOfCommit(commit));
  return tree;
}

const git::TreeEntry* BaseTree::Directory::Entry(std::string_view name) {
  auto known = entries.find(name);
  if (known == entries.end()) known = entries.emplace(name, tree.Find(name)).first;
  return known->second ? &*known->second : nullptr;
}

Result<BaseTree::Directory*> BaseTree::Load(std::string_view directory) {
  if (const auto known = directories_.find(directory); known != directories_.end()) {
    return known->second.get();
  }
  auto loaded = std::make_unique<Directory>();
  git::Oid tree;
  if (directory.empty()) {
    tree = root_;
  } else {
    Directory* parent = BAWN_TRY(Load(ParentOf(directory)));
    loaded->submodule = parent->submodule;
    if (const git::TreeEntry* entry = parent->Entry(NameOf(directory)); entry != nullptr) {
      if (entry->mode == git::FileMode::kTree) tree = entry->oid;
      if (entry->mode == git::FileMode::kGitlink) loaded->submodule = directory;
    }
  }
  if (!tree.empty()) loaded->tree = BAWN_TRY(repo_->OpenTree(tree));
  Directory* result = loaded.get();
  directories_.emplace(directory, std::move(loaded));
  return result;
}

Result<const git::TreeEntry*> BaseTree::Find(std::string_view path) {
  const git::TreeEntry* entry = BAWN_TRY(Load(ParentOf(path)))->Entry(NameOf(path));
  return entry == nullptr || entry->mode == git::FileMode::kTree ? nullptr : entry;
}

Result<std::string> BaseTree::SubmoduleOf(std::string_view path) {
  const git::TreeEntry* entry = BAWN_TRY(Find(path));
  if (entry != nullptr && entry->mode == git::FileMode::kGitlink) return std::string(path);
  return BAWN_TRY(Load(ParentOf(path)))->submodule;
}

}  // namespace bawn::review
