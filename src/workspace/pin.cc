// The pin of a base commit: refs/bawn/base/<id>, so that the host's gc keeps what only the sandbox
// still needs (RT-18). A loose ref written as git writes one: NAME.lock made O_EXCL, filled, then
// linked to its name. The host's gc may move it to packed-refs; then it is taken out of there.
#include <unistd.h>

#include <cerrno>

#include "base/ids.h"
#include "base/text.h"
#include "sys/files.h"
#include "workspace/open.h"
#include "workspace/repository_read.h"

namespace bawn::workspace {
namespace {

constexpr char kDirectory[] = "refs/bawn/base";
constexpr int kTries = 50;
constexpr useconds_t kPauseUs = 10'000;

Result<> CheckId(const std::string& id) {
  if (IsId(id, "sb_")) return {};
  return Fail(ErrorCode::kInvalidArgument, "not a sandbox id: " + EscapeName(id));
}

Result<> WriteLoose(int common_dir, const std::string& name, const std::string& line) {
  BAWN_CHECK_OK(sys::MakeDirs(common_dir, kDirectory, 0777));
  std::string lock = name + ".lock";
  UniqueFd fd =
      BAWN_TRY(sys::Openat2(common_dir, lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  Result<> done = sys::WriteAll(fd.get(), line);
  if (done) done = sys::Linkat(common_dir, lock, common_dir, name);
  (void)sys::Unlinkat(common_dir, lock);  // ours; the first error is the one to report
  return done;
}

// packed-refs without the ref (and the peeled line behind it); absent when it is not in there.
std::optional<std::string> Without(std::string_view packed, const std::string& name) {
  std::string out;
  bool found = false, dropping = false;
  for (std::string_view line : Lines(packed)) {
    dropping =
        (dropping && line.starts_with('^')) || (line.ends_with(name) && line.size() > name.size() &&
                                                line[line.size() - name.size() - 1] == ' ');
    found |= dropping;
    if (!dropping) out += std::string(line) + "\n";
  }
  if (!found) return std::nullopt;
  return out;
}

Result<> RemovePacked(int common_dir, const std::string& name) {
  std::optional<std::string> packed =
      BAWN_TRY(ReadIfExists(common_dir, "packed-refs", kPackedRefsMax));
  if (!packed || !Without(*packed, name)) return {};
  Result<UniqueFd> lock = std::unexpected(Error());
  for (int i = 0; i < kTries; ++i) {
    if (i > 0) usleep(kPauseUs);
    lock = sys::Openat2(common_dir, "packed-refs.lock", O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (lock || lock.error().sys_errno != EEXIST) break;
  }
  if (!lock) return std::unexpected(WithContext(lock.error(), "while removing " + name));
  packed = BAWN_TRY(ReadIfExists(common_dir, "packed-refs", kPackedRefsMax));
  std::optional<std::string> rest = packed ? Without(*packed, name) : std::nullopt;
  Result<> done = rest ? sys::WriteAll(lock->get(), *rest) : Result<>();
  if (done && rest) done = sys::Fsync(lock->get());  // every packed ref of the user is in there
  if (done && rest)
    return sys::Renameat2(common_dir, "packed-refs.lock", common_dir, "packed-refs");
  (void)sys::Unlinkat(common_dir, "packed-refs.lock");
  return done;
}

}  // namespace

Result<> PinBase(const Repository& repository, const std::string& id, const std::string& commit) {
  BAWN_CHECK_OK(CheckId(id));
  if (!IsObjectName(commit)) {
    return Fail(ErrorCode::kInvalidArgument, "not a commit: " + EscapeName(commit));
  }
  UniqueFd common = BAWN_TRY(sys::OpenDir(AT_FDCWD, repository.common_dir));
  std::string name = std::string(kDirectory) + "/" + id;
  Result<> done;
  for (int i = 0; i < kTries; ++i) {
    done = WriteLoose(common.get(), name, commit + "\n");
    // ENOENT: the end of the last other sandbox removed the directory in between.
    if (done || done.error().sys_errno != ENOENT) break;
  }
  if (!done && done.error().sys_errno == EEXIST) {
    Result<std::string> there = sys::ReadFileAt(common.get(), name, kSmallFileMax);
    if (there && TrimRight(*there) == commit) return {};
  }
  int code = done ? 0 : done.error().sys_errno;
  if (done || code == EACCES || code == EROFS || code == EPERM) return {};
  return std::unexpected(WithContext(done.error(), "while pinning the base commit"));
}

Result<> UnpinBase(const std::string& common_dir, const std::string& id) {
  BAWN_CHECK_OK(CheckId(id));
  Result<UniqueFd> common = sys::OpenDir(AT_FDCWD, common_dir);
  if (!common && common.error().sys_errno == ENOENT) return {};  // and with it the pin
  if (!common) return std::unexpected(common.error());
  std::string name = std::string(kDirectory) + "/" + id;
  // Packed first: were the loose one removed before, a kill in between would bring the old one
  // back.
  BAWN_CHECK_OK(RemovePacked(common->get(), name));
  for (const std::string& file : {name + ".lock", name}) {
    Result<> removed = sys::Unlinkat(common->get(), file);
    if (!removed && removed.error().sys_errno != ENOENT) return removed;
  }
  for (const char* directory : {kDirectory, "refs/bawn"}) {
    Result<> removed = sys::Unlinkat(common->get(), directory, AT_REMOVEDIR);
    if (!removed) break;  // other sandboxes have theirs in there
  }
  return {};
}

}  // namespace bawn::workspace
