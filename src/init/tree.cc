#include "init/tree.h"

#include "sys/files.h"
#include "sys/mounts.h"

namespace bawn::init {
namespace {

constexpr int kDirectoryPath = O_PATH | O_DIRECTORY | O_NOFOLLOW;

bool IsBelowOrEqual(std::string_view path, std::string_view top) {
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

Result<> UnlessExists(Result<> made) {
  if (!made && made.error().sys_errno == EEXIST) return {};
  return made;
}

}  // namespace

Result<Tree> Tree::Create(uint64_t bytes) {
  sys::FsBuilder tmpfs = BAWN_TRY(sys::FsBuilder::Open("tmpfs"));
  BAWN_CHECK_OK(tmpfs.SetString("size", std::to_string(bytes)));
  BAWN_CHECK_OK(tmpfs.SetString("mode", "0755"));
  constexpr uint64_t kAttributes = sys::kNoSuid | sys::kNoDev;
  UniqueFd store = BAWN_TRY(tmpfs.Mount(kAttributes));
  for (const char* name : {"root", "empty"}) {
    BAWN_CHECK_OK(sys::Mkdirat(store.get(), name, 0755));
  }
  // Over /proc: it exists wherever Bawn runs and holds no source of a mount. Not over "/": after
  // pivot_root the kernel would take this process for chrooted and refuse the second user
  // namespace.
  BAWN_CHECK_OK(sys::MoveMount(store.get(), AT_FDCWD, "/proc"));
  UniqueFd empty = BAWN_TRY(sys::Openat2(store.get(), "empty", kDirectoryPath));
  UniqueFd root = BAWN_TRY(sys::CloneTree(store.get(), "root", false));
  BAWN_CHECK_OK(sys::MoveMount(root.get(), store.get(), "root"));
  return Tree(std::move(store), std::move(root), std::move(empty));
}

Result<UniqueFd> Tree::OpenOrMakeDir(std::string_view path) {
  if (path.empty()) return sys::Dup(root_.get());
  Result<UniqueFd> opened =
      sys::Openat2(root_.get(), path.substr(1), kDirectoryPath, 0, sys::kUntrusted);
  if (opened || opened.error().sys_errno != ENOENT) return opened;
  size_t slash = path.rfind('/');
  UniqueFd parent = BAWN_TRY(OpenOrMakeDir(path.substr(0, slash)));
  BAWN_CHECK_OK(UnlessExists(sys::Mkdirat(parent.get(), path.substr(slash + 1), 0755)));
  return sys::Openat2(parent.get(), path.substr(slash + 1), kDirectoryPath, 0, sys::kUntrusted);
}

Result<int> Tree::Parent(std::string_view path, std::string* name) {
  size_t slash = path.rfind('/');
  *name = path.substr(slash + 1);
  std::string_view parent = path.substr(0, slash);
  if (parent.empty()) return root_.get();
  if (!parent_.valid() || parent_path_ != parent) {
    parent_ = BAWN_TRY(OpenOrMakeDir(parent));
    parent_path_ = parent;
  }
  return parent_.get();
}

Result<> Tree::MakeDir(std::string_view path, uint32_t mode) {
  if (path == "/") return {};
  std::string name;
  int parent = BAWN_TRY(Parent(path, &name));
  return UnlessExists(sys::Mkdirat(parent, name, mode));
}

Result<> Tree::MakeSymlink(std::string_view path, const std::string& target) {
  std::string name;
  int parent = BAWN_TRY(Parent(path, &name));
  Result<> made = sys::Symlinkat(target, parent, name);
  if (made || made.error().sys_errno != EEXIST) return made;
  BAWN_CHECK_OK(sys::Unlinkat(parent, name));
  return sys::Symlinkat(target, parent, name);
}

Result<> Tree::MakeFile(std::string_view path, std::string_view content, uint32_t mode,
                        int64_t mtime_ns) {
  std::string name;
  int parent = BAWN_TRY(Parent(path, &name));
  constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  Result<UniqueFd> file = sys::Openat2(parent, name, kNew, mode);
  if (!file && file.error().sys_errno == EEXIST) {
    // Left by an earlier life of the same changes: replaced, whatever it has become since.
    BAWN_CHECK_OK(sys::Unlinkat(parent, name));
    file = sys::Openat2(parent, name, kNew, mode);
  }
  if (!file) return std::unexpected(std::move(file).error());
  BAWN_CHECK_OK(sys::WriteAll(file->get(), content));
  return mtime_ns == 0 ? Result<>() : sys::Utimensat(parent, name, mtime_ns, AT_SYMLINK_NOFOLLOW);
}

Result<> Tree::Attach(int mount_fd, std::string_view path, bool directory) {
  std::string name;
  int parent = BAWN_TRY(Parent(path, &name));
  if (directory) {
    BAWN_CHECK_OK(UnlessExists(sys::Mkdirat(parent, name, 0755)));
  } else {
    BAWN_CHECK_OK(UnlessExists(sys::Mknodat(parent, name, S_IFREG | 0644, 0)));
  }
  // The last component is not followed (no MOVE_MOUNT_T_SYMLINKS).
  BAWN_CHECK_OK(sys::MoveMount(mount_fd, parent, name));
  last_attached_ = path;
  if (parent_.valid() && IsBelowOrEqual(parent_path_, path)) parent_.Reset();  // now hidden
  return {};
}

Result<> Tree::AttachHidden(int mount_fd) {
  std::string name = std::to_string(hidden_++);
  BAWN_CHECK_OK(sys::Mkdirat(store_.get(), name, 0700));
  return sys::MoveMount(mount_fd, store_.get(), name);
}

}  // namespace bawn::init
