// git/repo.h
// The trusted repository through libgit2: objects, attributes of the base commit, built-in
// conversions, one pack, refs by compare-and-swap. No external program ever runs. Only this room
// includes libgit2's headers; errors become ours here.
// Threads: one. Needs: process-wide InitGit() once in bawn-worker's main.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace bawn::git {

using Oid = std::string;  // 40 lower-case hex digits
inline constexpr std::string_view kZeroOid = "0000000000000000000000000000000000000000";

void InitGit();  // extensions (RT-23), fsync of the git dir, no system attributes, owner check off

enum class FileMode : uint32_t { kTree = 0040000, kFile = 0100644, kExecutable = 0100755,
                                 kSymlink = 0120000, kGitlink = 0160000 };

struct TreeEntry {
  std::string name;
  FileMode mode = FileMode::kFile;
  Oid oid;
};

// What a path's attributes (of the base commit and the user's config, never of changed files) say.
struct Conversion {
  std::string filter;                 // "lfs", "git-crypt", "": a driver other than the built-in ones
  std::string working_tree_encoding;  // "UTF-16", ""
  bool binary = false;                // diff: treat as binary (attribute -diff or -text with NUL)
};

class Repo {
 public:
  static Result<Repo> Open(const std::string& git_dir);  // opened by exact path, no discovery
  Repo(Repo&&) noexcept;
  Repo& operator=(Repo&&) noexcept;
  ~Repo();

  Result<std::string> ReadBlob(const Oid& oid, uint64_t bytes_max);
  Result<uint64_t> BlobSize(const Oid& oid);
  Result<Oid> TreeOfCommit(const Oid& commit);
  Result<std::vector<TreeEntry>> ReadTree(const Oid& tree);
  Result<std::optional<TreeEntry>> FindInTree(const Oid& tree, std::string_view path);

  // Attributes and ignore rules as of `commit`; loaded once per path prefix.
  Result<Conversion> ConversionOf(const Oid& commit, std::string_view path);
  // Bytes of the work tree -> blob bytes (text, eol, autocrlf, ident), as `git add` would.
  Result<std::string> ToGit(const Oid& commit, std::string_view path, std::string_view bytes);
  Result<std::string> ToWorkTree(const Oid& commit, std::string_view path, std::string_view blob);
  // Judged by the base commit's .gitignore files, info/exclude and core.excludesFile (RT-15).
  Result<bool> IsIgnored(const Oid& commit, std::string_view path, bool is_directory);

  static Oid HashBlob(std::string_view bytes);

  // Objects of one publish: collected, then written as one fsynced pack.
  Result<Oid> AddBlob(std::string_view bytes);
  Result<Oid> AddTree(const std::vector<TreeEntry>& entries);  // sorted by git's order here
  struct Signature { std::string name, email; int64_t seconds = 0; int offset_minutes = 0; };
  Result<Oid> AddCommit(const Oid& tree, const std::vector<Oid>& parents, const Signature& author,
                        const Signature& committer, std::string_view message);
  Result<> WritePack();

  Result<std::optional<Oid>> ReadRef(const std::string& name);
  // Moves a ref from an expected value; kZeroOid means "must not exist". kConflict when lost.
  Result<> CompareAndSwapRef(const std::string& name, const Oid& expected, const Oid& target,
                             std::string_view log_message);
  // The work tree in which the branch is HEAD (or being rebased or bisected); empty: nowhere.
  Result<std::string> CheckedOutAt(const std::string& ref);
  Result<std::optional<std::string>> ConfigString(const std::string& key);

 private:
  struct Impl;
  explicit Repo(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bawn::git
