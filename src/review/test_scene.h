// review/test_scene.h
// For tests only: a repository (the user's tree), a copy of it that a payload has edited, and the
// ChangeSet between them. The copy keeps its .git, so that the real `git add` can say what is
// right.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/sha256.h"
#include "git/test_repo.h"
#include "review/review.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::review {

class Scene {
 public:
  git::TestRepo repo;

  // After the base is committed: everything from here on happens in the copy.
  void Open() {
    base = repo.Line("rev-parse --verify -q HEAD || true");
    repo.Shell("rm -rf truth && cp -a tree truth");
  }
  std::string truth() const { return repo.root() + "/truth"; }
  void Write(const std::string& path, std::string_view bytes) const {
    git::TestRepo::WriteIn(truth(), path, bytes);
  }
  // In the payload's copy.
  std::string Do(const std::string& command) const { return repo.Shell("cd truth && " + command); }

  workspace::SandboxMeta Meta() const {
    workspace::SandboxMeta meta;
    meta.base_commit = base;
    meta.git_dir = meta.common_dir = repo.git_dir();
    meta.opened_at_ns = RealtimeNs();
    timespec boot = {};
    clock_gettime(CLOCK_BOOTTIME, &boot);
    meta.boottime_offset_ns =
        meta.opened_at_ns - (int64_t{boot.tv_sec} * 1'000'000'000 + boot.tv_nsec);
    return meta;
  }

  workspace::ChangeSet Changes() const {
    workspace::ChangeSet set;
    set.lower = *sys::OpenDir(AT_FDCWD, repo.tree());
    set.upper = *sys::OpenDir(AT_FDCWD, truth());
    std::set<std::string> paths;
    for (const std::string& top : {repo.tree(), truth()}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
        const std::string path = entry.path().string().substr(top.size() + 1);
        if (path != ".git" && !path.starts_with(".git/")) paths.insert(path);
      }
    }
    for (const std::string& path : paths) Add(path, &set);
    set.digest = workspace::DigestOf(set.changes);
    return set;
  }

  Review Make(const ReviewOptions& options = {}) {
    set_ = Changes();
    repo_.emplace(repo.Open());
    auto review = MakeReview(*set_, Meta(), &*repo_, options);
    EXPECT_TRUE(review) << review.error().message;
    return review ? *std::move(review) : Review{};
  }
  std::string Patch(const Review& review, const RenderOptions& options = {}) {
    return Rendered(
        [&](int fd) { return RenderPatch(review, *set_, &*repo_, Meta(), options, fd); });
  }
  template <class F>
  static std::string Rendered(F render) {
    const UniqueFd file = *sys::Memfd("text");
    const auto done = render(file.get());
    EXPECT_TRUE(done) << done.error().message;
    lseek(file.get(), 0, SEEK_SET);
    return *sys::ReadAll(file.get(), 1 << 30);
  }

  // path -> "mode oid" of what publish would commit.
  std::map<std::string, std::string> Published(const Review& review, bool dirty = true) const {
    std::map<std::string, std::string> tree = TreeAt(base);
    for (const Reviewed& path : review.paths) {
      if (!path.in_commit || (path.dirty_base && !dirty)) continue;
      if (path.new_git_mode == 0) {
        tree.erase(path.change.path);
      } else {
        char mode[8];
        std::snprintf(mode, sizeof mode, "%06o", path.new_git_mode);
        tree[path.change.path] = std::string(mode) + " " + path.new_oid;
      }
    }
    return tree;
  }
  // What `git add -A` makes of the payload's copy.
  std::map<std::string, std::string> Added() const {
    Do("git add -A . 2>/dev/null");
    return Split(Do("git ls-files -s -z"), 6, 7);
  }
  std::map<std::string, std::string> TreeAt(const std::string& commit) const {
    if (commit.empty()) return {};
    return Split(repo.Git("ls-tree -r -z " + commit), 6, 12);
  }

  std::string base;

 private:
  // "MODE … OID …\tPATH\0" of ls-files -s and ls-tree.
  static std::map<std::string, std::string> Split(const std::string& out, size_t mode_end,
                                                  size_t oid_at) {
    std::map<std::string, std::string> entries;
    for (size_t at = 0; at < out.size();) {
      const size_t end = out.find('\0', at);
      const std::string line = out.substr(at, end - at);
      entries[line.substr(line.find('\t') + 1)] =
          line.substr(0, mode_end) + " " + line.substr(oid_at, 40);
      at = end + 1;
    }
    return entries;
  }

  struct Side {
    workspace::EntryType type = workspace::EntryType::kNone;
    uint32_t mode = 0;
    uint64_t size = 0;
    std::string content;
    bool operator==(const Side&) const = default;
  };
  static Side Look(int top, const std::string& path) {
    Side side;
    const auto stat = sys::Fstatat(top, path);
    if (!stat) return side;
    side.mode = stat->mode & 07777;
    if (stat->IsRegular()) {
      side.type = workspace::EntryType::kFile;
      side.content = *sys::ReadFileAt(top, path, 1 << 30);
    } else if (stat->IsSymlink()) {
      side.type = workspace::EntryType::kSymlink;
      side.content = *sys::Readlinkat(top, path);
    } else if (stat->IsDir()) {
      side.type = workspace::EntryType::kDirectory;
      side.mode = 0;
    }
    side.size = side.content.size();
    return side;
  }
  static void Add(const std::string& path, workspace::ChangeSet* set) {
    const Side before = Look(set->lower.get(), path), after = Look(set->upper.get(), path);
    if (before == after) return;
    const bool fresh_directory = before.type == workspace::EntryType::kNone &&
                                 after.type == workspace::EntryType::kDirectory;
    if (fresh_directory) {
      const auto dir = sys::OpenDir(set->upper.get(), path);
      if (!sys::ListDir(dir->get())->empty()) return;
    }
    workspace::Change change;
    change.path = path;
    change.kind = before.type == workspace::EntryType::kNone  ? workspace::ChangeKind::kAdded
                  : after.type == workspace::EntryType::kNone ? workspace::ChangeKind::kDeleted
                                                              : workspace::ChangeKind::kModified;
    change.old_type = before.type;
    change.new_type = after.type;
    change.old_mode = before.mode;
    change.new_mode = after.mode;
    change.old_size = before.size;
    change.new_size = after.size;
    const bool hashed =
        after.type == workspace::EntryType::kFile || after.type == workspace::EntryType::kSymlink;
    if (hashed) change.new_sha256 = Sha256Hex(after.content);
    set->changes.push_back(std::move(change));
  }

  std::optional<workspace::ChangeSet> set_;
  std::optional<git::Repo> repo_;
};

inline const Reviewed* Find(const Review& review, std::string_view path) {
  for (const Reviewed& item : review.paths) {
    if (item.change.path == path) return &item;
  }
  return nullptr;
}

}  // namespace bawn::review
