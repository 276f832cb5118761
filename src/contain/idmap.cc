#include "contain/idmap.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/mounts.h"
#include "sys/processes.h"

namespace bawn::contain {
namespace {

constexpr uint64_t kUserNamespace = 0x10000000;

// A user namespace that exists for its maps only: its process waits to be killed and runs nothing.
Result<UniqueFd> MapNamespace(const sys::IdMapLine& uids, const sys::IdMapLine& gids) {
  pid_t own = getpid();
  sys::Child holder = BAWN_TRY(sys::Clone3(kUserNamespace));
  if (holder.pid == 0) sys::WaitToBeKilled(own);
  Defer end([&] {
    (void)sys::PidfdSendSignal(holder.pidfd.get(), SIGKILL);  // cannot fail before it is reaped
    bool ended = false;
    (void)sys::WaitPidfd(holder.pidfd.get(), true, &ended);
  });
  BAWN_CHECK_OK(sys::WriteIdMaps(holder.pid, uids, gids));
  return sys::Openat2(AT_FDCWD, "/proc/" + std::to_string(holder.pid) + "/ns/user", O_RDONLY);
}

}  // namespace

Result<UniqueFd> IdmappedTree(std::string_view path, uint32_t from_uid, uint32_t from_gid,
                              uint32_t to_uid, uint32_t to_gid) {
  UniqueFd tree = BAWN_TRY(sys::Openat2(AT_FDCWD, path, O_PATH, 0, sys::kNoSymlinks));
  Result<UniqueFd> mapped = IdmappedTreeOf(tree.get(), from_uid, from_gid, to_uid, to_gid);
  if (!mapped) return std::unexpected(WithContext(mapped.error(), EscapeName(path)));
  return mapped;
}

Result<UniqueFd> IdmappedTreeOf(int fd, uint32_t from_uid, uint32_t from_gid, uint32_t to_uid,
                                uint32_t to_gid) {
  UniqueFd clone = BAWN_TRY(sys::CloneTree(fd, "", false));
  UniqueFd map = BAWN_TRY(MapNamespace({from_uid, to_uid, 1}, {from_gid, to_gid, 1}));
  BAWN_CHECK_OK(sys::SetIdmap(clone.get(), map.get()));
  return clone;
}

}  // namespace bawn::contain
