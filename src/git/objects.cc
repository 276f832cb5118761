// git/objects.cc
// Reading blobs, trees and commits.
#include <cstring>
#include <utility>

#include "git/impl.h"
#include "git/repo.h"

namespace bawn::git {
namespace {

FileMode ModeOf(git_filemode_t mode) {
  switch (mode) {
    case GIT_FILEMODE_TREE:
      return FileMode::kTree;
    case GIT_FILEMODE_BLOB_EXECUTABLE:
      return FileMode::kExecutable;
    case GIT_FILEMODE_LINK:
      return FileMode::kSymlink;
    case GIT_FILEMODE_COMMIT:
      return FileMode::kGitlink;
    default:
      return FileMode::kFile;
  }
}

std::unexpected<Error> Missing(const Oid& oid) {
  return Fail(ErrorCode::kNotFound, "object " + oid + " is not in the repository",
              "in a partial clone, fetch it with your own git first", "git.missing_object");
}

}  // namespace

TreeEntry EntryOf(const git_tree_entry* entry) {
  return {.name = git_tree_entry_name(entry),
          .mode = ModeOf(git_tree_entry_filemode(entry)),
          .oid = OidText(*git_tree_entry_id(entry))};
}

Result<git_oid> ParseOid(std::string_view hex) {
  git_oid oid;
  if (hex.size() != GIT_OID_HEXSZ || git_oid_fromstrn(&oid, hex.data(), hex.size()) < 0) {
    return Fail(ErrorCode::kInvalidArgument, "not an object id: " + std::string(hex));
  }
  return oid;
}

Oid OidText(const git_oid& oid) {
  Oid text(GIT_OID_HEXSZ, '0');
  git_oid_fmt(text.data(), &oid);
  return text;
}

Result<OdbObjectHandle> Repo::Impl::Read(const Oid& oid, git_object_t kind) {
  const git_oid id = BAWN_TRY(ParseOid(oid));
  git_odb_object* object = nullptr;
  const int code = git_odb_read(&object, odb.get(), &id);
  if (code == GIT_ENOTFOUND) return Missing(oid);
  if (code < 0) return FailGit(code, "read object " + oid);
  OdbObjectHandle handle(object);
  if (git_odb_object_type(object) != kind) {
    return Fail(ErrorCode::kInvalidArgument,
                "object " + oid + " is a " + git_object_type2string(git_odb_object_type(object)) +
                    ", not a " + git_object_type2string(kind));
  }
  return handle;
}

Result<uint64_t> Repo::BlobSize(const Oid& oid) {
  const git_oid id = BAWN_TRY(ParseOid(oid));
  size_t size = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  const int code = git_odb_read_header(&size, &kind, impl_->odb.get(), &id);
  if (code == GIT_ENOTFOUND) return Missing(oid);
  if (code < 0) return FailGit(code, "read object " + oid);
  if (kind != GIT_OBJECT_BLOB) {
    return Fail(ErrorCode::kInvalidArgument, "object " + oid + " is not a blob");
  }
  return size;
}

Result<std::string> Repo::ReadBlob(const Oid& oid, uint64_t bytes_max) {
  const uint64_t size = BAWN_TRY(BlobSize(oid));  // a delta's real size costs only its header
  if (size > bytes_max) {
    return Fail(ErrorCode::kResourceExhausted, "object " + oid + " has " + std::to_string(size) +
                                                   " bytes, more than " +
                                                   std::to_string(bytes_max));
  }
  const OdbObjectHandle object = BAWN_TRY(impl_->Read(oid, GIT_OBJECT_BLOB));
  return std::string(static_cast<const char*>(git_odb_object_data(object.get())),
                     git_odb_object_size(object.get()));
}

Result<Oid> Repo::TreeOfCommit(const Oid& commit) {
  const git_oid id = BAWN_TRY(ParseOid(commit));
  git_commit* found = nullptr;
  const int code = git_commit_lookup(&found, impl_->repository.get(), &id);
  if (code == GIT_ENOTFOUND) return Missing(commit);
  if (code < 0) return FailGit(code, "read commit " + commit);
  const CommitHandle handle(found);
  return OidText(*git_commit_tree_id(found));
}

Result<TreeHandle> Repo::Impl::Tree(const Oid& oid) {
  const git_oid id = BAWN_TRY(ParseOid(oid));
  git_tree* found = nullptr;
  const int code = git_tree_lookup(&found, repository.get(), &id);
  if (code == GIT_ENOTFOUND) return Missing(oid);
  if (code < 0) return FailGit(code, "read tree " + oid);
  return TreeHandle(found);
}

Result<std::vector<TreeEntry>> Repo::ReadTree(const Oid& tree) {
  const TreeHandle handle = BAWN_TRY(impl_->Tree(tree));
  std::vector<TreeEntry> entries;
  const size_t count = git_tree_entrycount(handle.get());
  entries.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    entries.push_back(EntryOf(git_tree_entry_byindex(handle.get(), i)));
  }
  return entries;
}

Result<Tree> Repo::OpenTree(const Oid& tree) { return Tree(BAWN_TRY(impl_->Tree(tree)).release()); }

Tree::Tree() = default;
Tree::Tree(git_tree* owned) : tree_(owned) {}
Tree::Tree(Tree&& other) noexcept : tree_(std::exchange(other.tree_, nullptr)) {}
Tree& Tree::operator=(Tree&& other) noexcept {
  std::swap(tree_, other.tree_);
  return *this;
}
Tree::~Tree() { git_tree_free(tree_); }

std::optional<TreeEntry> Tree::Find(std::string_view name) const {
  const std::string text(name);
  const git_tree_entry* entry =
      tree_ == nullptr ? nullptr : git_tree_entry_byname(tree_, text.c_str());
  return entry == nullptr ? std::nullopt : std::optional<TreeEntry>(EntryOf(entry));
}

// Not git_tree_entry_bypath: it reports a missing subtree as if the path did not exist.
Result<std::optional<TreeEntry>> Repo::FindInTree(const Oid& tree, std::string_view path) {
  Oid current = tree;
  while (true) {
    const size_t slash = path.find('/');
    const std::string name(path.substr(0, slash));
    const TreeHandle handle = BAWN_TRY(impl_->Tree(current));
    const git_tree_entry* entry = git_tree_entry_byname(handle.get(), name.c_str());
    if (entry == nullptr) return std::nullopt;
    TreeEntry found = EntryOf(entry);
    if (slash == std::string_view::npos) return found;
    if (found.mode != FileMode::kTree) return std::nullopt;
    current = std::move(found.oid);
    path.remove_prefix(slash + 1);
  }
}

Oid Repo::HashBlob(std::string_view bytes) { return HashObject(ObjectKind::kBlob, bytes); }

Oid Repo::HashObject(ObjectKind kind, std::string_view bytes) {
  git_oid oid;
  const int code = git_odb_hash(&oid, bytes.data(), bytes.size(), ToGitKind(kind));
  BAWN_ASSERT(code == 0);
  return OidText(oid);
}

Result<std::optional<ObjectKind>> Repo::KindOf(const Oid& oid) {
  const git_oid id = BAWN_TRY(ParseOid(oid));
  size_t size = 0;
  git_object_t kind = GIT_OBJECT_INVALID;
  const int code = git_odb_read_header(&size, &kind, impl_->odb.get(), &id);
  if (code == GIT_ENOTFOUND) return std::nullopt;
  if (code < 0) return FailGit(code, "read object " + oid);
  for (const ObjectKind one : {ObjectKind::kBlob, ObjectKind::kTree, ObjectKind::kCommit}) {
    if (ToGitKind(one) == kind) return one;
  }
  return std::nullopt;  // a tag: no part of a commit
}

Result<bool> Repo::Contains(const Oid& commit, const Oid& ancestor) {
  if (commit == ancestor) return true;
  const git_oid at = BAWN_TRY(ParseOid(commit));
  const git_oid from = BAWN_TRY(ParseOid(ancestor));
  const int code = git_graph_descendant_of(impl_->repository.get(), &at, &from);
  if (code < 0) return FailGit(code, "walk from " + commit);
  return code == 1;
}

}  // namespace bawn::git
