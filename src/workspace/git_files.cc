#include "workspace/git_files.h"

#include <fcntl.h>

#include <cerrno>

#include "sys/files.h"
#include "sys/sealed.h"
#include "workspace/files.h"

namespace bawn::workspace {

Result<> GitFiles::MakeDirs(const std::string& path) {
  if (ops_ == nullptr) return sys::MakeDirs(dirfd_, path, 0755);
  plan::Op op;
  op.kind = plan::OpKind::kDir;
  op.target = shown_at_ + "/" + path;
  ops_->push_back(std::move(op));
  return {};
}

Result<> GitFiles::Write(const std::string& path, std::string_view bytes, int64_t mtime_ns) {
  if (ops_ == nullptr) return WriteNew(dirfd_, path, bytes);
  plan::Op op;
  op.kind = plan::OpKind::kFile;
  op.target = shown_at_ + "/" + path;
  op.content = bytes;
  op.mode = 0644;
  op.mtime_ns = mtime_ns;
  ops_->push_back(std::move(op));
  return {};
}

Result<> GitFiles::CopyWithTime(int from, const std::string& name, size_t bytes_max) {
  Result<UniqueFd> file = sys::Openat2(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file && file.error().sys_errno == ENOENT) return {};
  if (!file) return std::unexpected(std::move(file).error());
  sys::FileStat st = BAWN_TRY(sys::Fstat(file->get()));
  return Write(name, BAWN_TRY(sys::ReadWhole(file->get(), bytes_max)), st.mtime_ns);
}

}  // namespace bawn::workspace
