// git/impl.h
// What stands behind Repo: libgit2's handles with owners, and the rule files read so far. Private
// to this room; the only header here that includes libgit2's.
#pragma once

#include <git2.h>
#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/attributes.h"
#include "git/convert.h"
#include "git/ignore.h"
#include "git/pack_file.h"
#include "git/repo.h"

namespace bawn::git {

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* pointer) const { Free(pointer); }
};
template <class T, void (*Free)(T*)>
using Handle = std::unique_ptr<T, Freed<T, Free>>;

using RepositoryHandle = Handle<git_repository, git_repository_free>;
using OdbHandle = Handle<git_odb, git_odb_free>;
using OdbObjectHandle = Handle<git_odb_object, git_odb_object_free>;
using ConfigHandle = Handle<git_config, git_config_free>;
using ReferenceHandle = Handle<git_reference, git_reference_free>;
using TreeHandle = Handle<git_tree, git_tree_free>;
using CommitHandle = Handle<git_commit, git_commit_free>;

inline constexpr uint64_t kRuleFileBytesMax = 100 << 20;  // git's limit of an attributes file

TreeEntry EntryOf(const git_tree_entry* entry);
git_object_t ToGitKind(ObjectKind kind);

// libgit2's last error as ours: `code` is its return value, `what` names call and object.
std::unexpected<Error> FailGit(int code, std::string_view what);

Result<git_oid> ParseOid(std::string_view hex);
Oid OidText(const git_oid& oid);

using AttributeValues = std::map<std::string, AttributeValue>;

// Rule files of one commit, by directory ("" is the top).
struct BaseRules {
  Oid commit;
  Oid root;                                                      // tree; empty when `commit` is
  std::map<std::string, std::optional<Oid>, std::less<>> trees;  // absent: no such directory
  std::map<std::string, AttributeFile, std::less<>> attributes;
  std::map<std::string, IgnoreFile, std::less<>> ignores;
  std::map<std::string, bool, std::less<>> directory_ignored;
  std::optional<std::pair<std::string, AttributeValues>> last;  // of the last path asked about
};

struct UserRules {
  AttributeFile info_attributes, user_attributes;
  IgnoreFile info_exclude, user_excludes;
  LineEndConfig line_ends;
  bool ignore_case = false;
};

struct Repo::Impl {
  std::string git_dir;
  std::string common_dir;
  RepositoryHandle repository;
  OdbHandle odb;
  ConfigHandle config;
  git_odb_backend* collected = nullptr;  // owned by odb
  std::vector<git_oid> collected_oids;   // in order: packed in this order
  BaseRules base;
  std::optional<UserRules> user;

  // Whole object, checked to be of `kind`.
  Result<OdbObjectHandle> Read(const Oid& oid, git_object_t kind);
  Result<TreeHandle> Tree(const Oid& oid);
  Result<git_oid> Collect(git_object_t kind, std::string_view bytes);
  Result<> CollectAs(const git_oid& oid, git_object_t kind, std::string_view bytes);
  Result<PackObject> FromMemory(const git_oid& oid);
  Result<> FillPack(int directory);  // all that was collected, in that order
  Result<int> CompressionLevel();

  Result<> UseBase(const Oid& commit);
  Result<const UserRules*> User();
  Result<std::optional<Oid>> TreeOf(std::string_view directory);
  Result<std::optional<TreeEntry>> EntryOfBase(std::string_view path);
  // The content of the rule file `name` in `directory` of the base, empty when there is none.
  Result<std::string> RuleFile(std::string_view directory, std::string_view name);
  Result<const AttributeFile*> AttributesIn(std::string_view directory);
  Result<const IgnoreFile*> IgnoresIn(std::string_view directory);
  Result<const AttributeValues*> Attributes(const Oid& commit, std::string_view path);
  Result<bool> PathIgnored(std::string_view path, bool is_directory);
  Result<bool> DirectoryIgnored(std::string_view directory);
  Result<TextRules> TextRulesOf(const Oid& commit, std::string_view path);
  Result<bool> BaseHasCrlf(std::string_view path);
  Result<std::string> FileOfUser(const std::string& config_key, const std::string& default_name);
};

}  // namespace bawn::git
