// git/repo.h
// The trusted repository through libgit2: objects, attributes of the base commit, built-in
// conversions, one pack, refs by compare-and-swap. No external program ever runs. Only this room
// includes libgit2's headers; errors become ours here.
// Threads: one. Needs: process-wide InitGit() once in bawn-worker's main.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bawn::git {

using Oid = std::string;  // 40 lower-case hex digits
inline constexpr std::string_view kZeroOid = "0000000000000000000000000000000000000000";

// Once per process, before anything else here (a second call does no harm): which repository
// extensions are ours to judge (RT-23), fsync of the git dir, libgit2's owner check off (the reader
// that found the git dir has checked it; libgit2's own error is misleading, RT-10).
void InitGit();

enum class FileMode : uint32_t {
  kTree = 0040000,
  kFile = 0100644,
  kExecutable = 0100755,
  kSymlink = 0120000,
  kGitlink = 0160000
};
enum class ObjectKind : uint8_t { kBlob, kTree, kCommit };

struct TreeEntry {
  std::string name;
  FileMode mode = FileMode::kFile;
  Oid oid;
};

// What a path's attributes (of the base commit and the user's config, never of changed files) say.
struct Conversion {
  std::string filter;  // "lfs", "git-crypt", "": a driver other than the built-in ones
  std::string working_tree_encoding;  // "UTF-16", ""
  bool binary = false;                // attribute -diff (or the macro "binary")
  bool text = false;                  // attribute diff set: text even with NUL
};

}  // namespace bawn::git

struct git_tree;  // libgit2's

namespace bawn::git {

// One directory of a commit: parsed once, looked up by name.
class Tree {
 public:
  Tree();  // holds nothing
  explicit Tree(git_tree* owned);
  Tree(Tree&&) noexcept;
  Tree& operator=(Tree&&) noexcept;
  ~Tree();
  std::optional<TreeEntry> Find(std::string_view name) const;

 private:
  git_tree* tree_ = nullptr;
};

class Repo {
 public:
  // Opened by exact path, no discovery; `git_dir` may be that of a linked worktree. sha256,
  // reftable and unknown extensions are kUnavailable with rule "git.unsupported" and named in the
  // message.
  static Result<Repo> Open(const std::string& git_dir);
  Repo(Repo&&) noexcept;
  Repo& operator=(Repo&&) noexcept;
  ~Repo();

  // A missing object (partial clone: nothing is fetched) is kNotFound with rule
  // "git.missing_object"; more than `bytes_max` is kResourceExhausted.
  Result<std::string> ReadBlob(const Oid& oid, uint64_t bytes_max);
  Result<uint64_t> BlobSize(const Oid& oid);
  Result<Oid> TreeOfCommit(const Oid& commit);
  Result<std::vector<TreeEntry>> ReadTree(const Oid& tree);
  Result<Tree> OpenTree(const Oid& tree);
  Result<std::optional<TreeEntry>> FindInTree(const Oid& tree, std::string_view path);

  // Attributes and ignore rules as of `commit`, read once per directory; an empty `commit` (nothing
  // committed yet) leaves only info/ and the user's own files. The work tree and the index are
  // never consulted. Symlinked rule files are not followed, as in git.
  Result<Conversion> ConversionOf(const Oid& commit, std::string_view path);
  // Bytes of the work tree -> blob bytes (text, eol, autocrlf, ident), as `git add` would. Drivers
  // and encodings are the caller's business: see ConversionOf.
  Result<std::string> ToGit(const Oid& commit, std::string_view path, std::string_view bytes);
  Result<std::string> ToWorkTree(const Oid& commit, std::string_view path, std::string_view blob);
  // Whether a checkout of what ToGit stores would give `bytes` back, line ends considered; ident is
  // meant to change and does not count (core.safecrlf's question).
  Result<bool> RoundTrips(const Oid& commit, std::string_view path, std::string_view bytes);
  // Judged by the base commit's .gitignore files, info/exclude and core.excludesFile (RT-15). Says
  // nothing about whether the path is tracked: a tracked path is never ignored.
  Result<bool> IsIgnored(const Oid& commit, std::string_view path, bool is_directory);

  static Oid HashBlob(std::string_view bytes);
  static Oid HashObject(ObjectKind kind, std::string_view bytes);
  // What the repository itself has under this name, collected objects included; absent: nothing.
  Result<std::optional<ObjectKind>> KindOf(const Oid& oid);
  // Is `ancestor` the commit itself or among its ancestors?
  Result<bool> Contains(const Oid& commit, const Oid& ancestor);

  // Objects of one publish: collected in memory, then written as one fsynced pack. Readable through
  // this Repo at once. An object that the repository has already is not collected again.
  Result<Oid> AddBlob(std::string_view bytes);
  // Bytes that HashBlob has given this name.
  Result<> AddHashedBlob(const Oid& oid, std::string_view bytes);
  Result<Oid> AddTree(const std::vector<TreeEntry>& entries);  // sorted by git's order here
  struct Signature {
    std::string name, email;
    int64_t seconds = 0;
    int offset_minutes = 0;
  };
  // `message` is stored as it stands.
  Result<Oid> AddCommit(const Oid& tree, const std::vector<Oid>& parents, const Signature& author,
                        const Signature& committer, std::string_view message);
  // The bytes of an object that the caller has parsed strictly itself (RT-11).
  Result<Oid> AddObject(ObjectKind kind, std::string_view bytes);
  // Nothing collected: nothing is written.
  // Made complete in objects/NAME.pack/ first, so that a kill -9 leaves nothing but that directory:
  // the next call of that name, or workspace::RemoveGitTemporaries, takes it away.
  Result<> WritePack(const std::string& name);

  // Symbolic refs are followed; an unborn branch has no value.
  Result<std::optional<Oid>> ReadRef(const std::string& name);
  // Moves a ref from an expected value; kZeroOid means "must not exist". kConflict when lost: rule
  // "git.ref_moved", "git.ref_exists" or "git.ref_directory" (a/b against a; the hint names a way
  // out). An empty `expected` is a bug of the caller: libgit2 would take it as "whatever" (RT-23).
  Result<> CompareAndSwapRef(const std::string& name, const Oid& expected, const Oid& target,
                             std::string_view log_message);
  // Takes away the lock that a killed CompareAndSwapRef to `target` left beside the ref: one that
  // holds `target`, or an empty one of this user's, made at or after `since_ns`, that nobody
  // touches for a while (a running git fills its lock at once). Anybody else's stays.
  Result<> ForgetRefLock(const std::string& name, const Oid& target, int64_t since_ns);
  // The work tree in which the branch is HEAD (or being rebased or bisected); empty: nowhere.
  Result<std::string> CheckedOutAt(const std::string& ref);
  Result<std::optional<std::string>> ConfigString(const std::string& key);
  Result<bool> ConfigBool(const std::string& key, bool otherwise);

 private:
  struct Impl;
  explicit Repo(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bawn::git
