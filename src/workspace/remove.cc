#include "workspace/remove.h"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/text.h"
#include "sys/files.h"
#include "workspace/open.h"
#include "workspace/state.h"

namespace bawn::workspace {
namespace {

// Directories held open at once. What nests deeper is moved up to the top of the tree, so neither
// depth nor RLIMIT_NOFILE bounds what can be removed, and ".." is never used to get back.
constexpr size_t kHeldMax = 24;
// How often one name or one directory is tried again while somebody changes it under us.
constexpr int kTriesMax = 64;
constexpr unsigned kRenameNoReplace = 1;  // renameat2(2)

// Removes everything below one directory. Every step names one component relative to a descriptor
// that was opened without following links, on the device of the top.
class Remover {
 public:
  Remover(int top_fd, uint64_t device) : top_fd_(top_fd), device_(device) {}

  Result<> EmptyTop() {
    UniqueFd top = BAWN_TRY(sys::Dup(top_fd_));
    levels_.push_back({std::move(top), {}, {}, 0});
    BAWN_CHECK_OK(List(levels_.back()));
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.next < level.entries.size()) {
        sys::DirEntry entry = std::move(level.entries[level.next++]);
        RemoveEntry(level.fd.get(), entry);
      } else {
        LeaveLevel();
      }
    }
    if (first_error_) return std::unexpected(*first_error_);
    return {};
  }

 private:
  struct Level {
    UniqueFd fd;
    std::string name;  // in the level before; empty for the top
    std::vector<sys::DirEntry> entries;
    size_t next = 0;
    int passes = 0;
  };

  static Result<> List(Level& level) {
    level.next = 0;
    ++level.passes;
    level.entries = BAWN_TRY(sys::ListDir(level.fd.get()));
    return {};
  }

  void Note(Error error) {
    if (!first_error_) first_error_ = std::move(error);
  }

  // Either unlinks the entry or pushes it as a level (or moves it to the top for later).
  void RemoveEntry(int dirfd, const sys::DirEntry& entry) {
    bool try_directory = entry.type == DT_DIR;
    Error last;
    for (int tries = 0; tries < kTriesMax; ++tries, try_directory = !try_directory) {
      Result<> done =
          try_directory ? EnterDirectory(dirfd, entry.name) : sys::Unlinkat(dirfd, entry.name);
      if (done || done.error().sys_errno == ENOENT) return;
      last = std::move(done).error();
      // The other kind of thing is there now: a racing swap, or a type readdir did not know.
      bool other_kind = try_directory ? last.sys_errno == ENOTDIR || last.sys_errno == ELOOP
                                      : last.sys_errno == EISDIR;
      if (!other_kind) break;
    }
    Note(std::move(last));
  }

  Result<> EnterDirectory(int dirfd, const std::string& name) {
    // O_PATH needs no right on the directory itself, so a mode of 000 is no obstacle.
    UniqueFd held = BAWN_TRY(sys::Openat2(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    sys::FileStat st = BAWN_TRY(sys::Fstat(held.get()));
    if (st.dev != device_) {
      return Fail(ErrorCode::kFailedPrecondition,
                  "another file system is mounted on " + EscapeName(name),
                  "unmount it; nothing below it was touched");
    }
    if ((st.mode & 0700) != 0700) BAWN_CHECK_OK(sys::FchmodPath(held.get(), 0700));
    if (levels_.size() >= kHeldMax) return MoveToTop(dirfd, name);
    UniqueFd fd = BAWN_TRY(sys::OpenDir(held.get(), "."));
    Level level{std::move(fd), name, {}, 0};
    BAWN_CHECK_OK(List(level));
    levels_.push_back(std::move(level));
    return {};
  }

  Result<> MoveToTop(int dirfd, const std::string& name) {
    std::string moved = NewId(".gone_");
    BAWN_CHECK_OK(sys::Renameat2(dirfd, name, top_fd_, moved, kRenameNoReplace));
    levels_.front().entries.push_back({std::move(moved), DT_UNKNOWN, 0});
    return {};
  }

  void LeaveLevel() {
    if (levels_.size() == 1) return levels_.pop_back();
    int parent = levels_[levels_.size() - 2].fd.get();
    Level& level = levels_.back();
    Result<> done = sys::Unlinkat(parent, level.name, AT_REMOVEDIR);
    bool gone = done || done.error().sys_errno == ENOENT || done.error().sys_errno == ENOTDIR;
    if (!gone && done.error().sys_errno == ENOTEMPTY && level.passes < kTriesMax && !first_error_) {
      if (Result<> listed = List(level); listed) return;  // filled while it was being emptied
    }
    // ENOTDIR: swapped for something else; the name goes through the other kind once more.
    std::string name = level.name;
    bool swapped = !done && done.error().sys_errno == ENOTDIR;
    levels_.pop_back();
    if (swapped) return RemoveEntry(parent, {name, DT_UNKNOWN, 0});
    if (!gone) Note(std::move(done).error());
  }

  int top_fd_;
  uint64_t device_;
  std::vector<Level> levels_;
  std::optional<Error> first_error_;
};

Result<> RemoveDirectory(int parent_fd, const std::string& name) {
  UniqueFd held = BAWN_TRY(sys::Openat2(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  sys::FileStat st = BAWN_TRY(sys::Fstat(held.get()));
  sys::FileStat parent = BAWN_TRY(sys::Fstat(parent_fd));
  if (st.dev != parent.dev) {
    return Fail(ErrorCode::kFailedPrecondition,
                "another file system is mounted on " + EscapeName(name),
                "unmount it; nothing below it was touched");
  }
  if ((st.mode & 0700) != 0700) BAWN_CHECK_OK(sys::FchmodPath(held.get(), 0700));
  UniqueFd top = BAWN_TRY(sys::OpenDir(held.get(), "."));
  BAWN_CHECK_OK(Remover(top.get(), st.dev).EmptyTop());
  return sys::Unlinkat(parent_fd, name, AT_REMOVEDIR);
}

}  // namespace

Result<> RemoveTree(int parent_fd, const std::string& name) {
  BAWN_ASSERT(!name.empty() && name.find('/') == std::string::npos && name != "." && name != "..");
  Error last;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    Result<> done = RemoveDirectory(parent_fd, name);
    if (!done && (done.error().sys_errno == ENOTDIR || done.error().sys_errno == ELOOP)) {
      done = sys::Unlinkat(parent_fd, name);
    }
    if (done || done.error().sys_errno == ENOENT) return {};
    last = std::move(done).error();
    if (last.sys_errno != EISDIR && last.sys_errno != ENOTDIR && last.sys_errno != ENOTEMPTY) break;
  }
  return std::unexpected(WithContext(std::move(last), "while removing " + EscapeName(name)));
}

Result<> RemoveSandboxDir(const StateDir& state, SandboxDir dir) {
  UniqueFd sandboxes = BAWN_TRY(sys::OpenDir(state.fd.get(), "sb", sys::kUntrusted));
  std::string removing = kRemovingPrefix + dir.id;
  Result<> renamed = sys::Renameat2(sandboxes.get(), dir.id, sandboxes.get(), removing);
  if (!renamed && renamed.error().sys_errno != ENOENT) return renamed;
  return RemoveTree(sandboxes.get(), removing);  // `dir.lock` is held until here
}

Result<> SweepRemoved(const StateDir& state) {
  Result<UniqueFd> sandboxes = sys::OpenDir(state.fd.get(), "sb", sys::kUntrusted);
  if (!sandboxes && sandboxes.error().sys_errno == ENOENT) return {};
  if (!sandboxes) return std::unexpected(std::move(sandboxes).error());
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(sandboxes->get()))) {
    if (!entry.name.starts_with(kRemovingPrefix)) continue;
    BAWN_CHECK_OK(RemoveTree(sandboxes->get(), entry.name));
  }
  return {};
}

namespace {

constexpr const char* kChanges[] = {"layers", "initial", "git"};

std::string SetAside(const char* name) { return std::string(name) + ".gone"; }

}  // namespace

Result<> RemoveChanges(const SandboxDir& dir) {
  for (const char* name : kChanges) {
    BAWN_CHECK_OK(RemoveTree(dir.fd.get(), name));
    BAWN_CHECK_OK(RemoveTree(dir.fd.get(), SetAside(name)));
  }
  return {};
}

Result<> RemoveEnded(const SandboxDir& dir) {
  UniqueFd meta = BAWN_TRY(sys::Openat2(dir.fd.get(), "meta.json", O_RDONLY, 0, sys::kUntrusted));
  BAWN_CHECK_OK(sys::Fsync(meta.get()));
  BAWN_CHECK_OK(sys::Fsync(dir.fd.get()));
  return RemoveChanges(dir);
}

namespace {

// Packs that a killed publish had named beside the user's and not yet given an index: a second name
// of one in the directory that it left (git/pack.cc).
Result<> RemoveHalfPacks(const std::string& objects, const std::string& staging) {
  Result<UniqueFd> own = sys::OpenDir(AT_FDCWD, objects + "/" + staging, sys::kNoSymlinks);
  if (!own && own.error().sys_errno == ENOENT) return {};
  if (!own) return std::unexpected(std::move(own).error());
  Result<UniqueFd> packs = sys::OpenDir(AT_FDCWD, objects + "/pack");
  if (!packs) return {};
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(own->get()))) {
    if (!entry.name.ends_with(".pack")) continue;
    std::string index = entry.name.substr(0, entry.name.size() - 5) + ".idx";
    Result<sys::FileStat> ours = sys::Fstatat(own->get(), entry.name);
    Result<sys::FileStat> there = sys::Fstatat(packs->get(), entry.name);
    bool same = ours && there && ours->ino == there->ino && ours->dev == there->dev;
    if (!same || sys::Fstatat(packs->get(), index)) continue;
    BAWN_CHECK_OK(sys::Unlinkat(packs->get(), entry.name));
  }
  return {};
}

}  // namespace

Result<> RemoveGitTemporaries(const SandboxMeta& meta) {
  std::string name = "bawn-" + meta.id;
  BAWN_CHECK_OK(RemoveHalfPacks(meta.common_dir + "/objects", name + ".pack"));
  std::pair<std::string, std::string> places[] = {{meta.common_dir + "/objects", name + ".pack"},
                                                  {meta.common_dir, name + ".lfs"},
                                                  {meta.git_dir, name},
                                                  {meta.git_dir, name + ".lock"}};
  for (const auto& [directory, entry] : places) {
    Result<UniqueFd> fd = sys::OpenDir(AT_FDCWD, directory);
    if (!fd && fd.error().sys_errno == ENOENT) continue;  // the repository is gone
    if (!fd) return std::unexpected(std::move(fd).error());
    BAWN_CHECK_OK(RemoveTree(fd->get(), entry));
  }
  return {};
}

Result<> EndChanges(const SandboxDir& dir, const SandboxMeta& meta) {
  if (!meta.common_dir.empty()) {
    BAWN_CHECK_OK(UnpinBase(meta.common_dir, meta.id));
    BAWN_CHECK_OK(RemoveGitTemporaries(meta));
  }
  for (const char* name : kChanges) {
    Result<> aside = sys::Renameat2(dir.fd.get(), name, dir.fd.get(), SetAside(name));
    if (!aside && aside.error().sys_errno != ENOENT) return aside;
  }
  for (const char* name : {kDurablePending, kPublishing}) {
    Result<> gone = sys::Unlinkat(dir.fd.get(), name);
    if (!gone && gone.error().sys_errno != ENOENT) return gone;
  }
  return {};
}

bool IsEnded(const std::string& state) {
  return state == kPublished || state == kApplied || state == kDiscarded;
}

Result<> RemoveHalves(const StateDir& state, const std::string& id) {
  BAWN_ASSERT(IsId(id, "sb_"));
  Result<UniqueFd> sandboxes = sys::OpenDir(state.fd.get(), "sb", sys::kUntrusted);
  if (!sandboxes && sandboxes.error().sys_errno == ENOENT) return {};
  if (!sandboxes) return std::unexpected(std::move(sandboxes).error());
  for (const char* prefix : {kNewPrefix, kRemovingPrefix}) {
    BAWN_CHECK_OK(RemoveTree(sandboxes->get(), prefix + id));
  }
  return {};
}

}  // namespace bawn::workspace
