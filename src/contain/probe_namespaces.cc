// Decided in: nowhere; a probe only tries. Enforced by: the kernel, in the probe's own child.
// Recorded as: a fact of `bawn doctor`.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "contain/probes.h"
#include "sys/attempts.h"
#include "sys/capabilities.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/mount_proofs.h"
#include "sys/mounts.h"
#include "sys/netif.h"
#include "sys/processes.h"

namespace bawn::contain {
namespace {

constexpr uint64_t kNewUser = 0x10000000, kNewNs = 0x00020000;
constexpr uint32_t kOverflowId = 65534;
constexpr uint32_t kTestNet1 = 0xc0000201;  // 192.0.2.1, RFC 5737: no packet leaves without a route

std::unexpected<Error> Wrong(std::string what) {
  return Fail(ErrorCode::kUnavailable, std::move(what));
}

Result<UniqueFd> FreshProc() {
  sys::FsBuilder proc = BAWN_TRY(sys::FsBuilder::Open("proc"));
  return proc.Mount(sys::kNoSuid | sys::kNoDev | sys::kNoExec);
}

// Where something is mounted below /proc: the kernel then refuses a fresh proc to a user namespace
// (mount_too_revealing), as in most containers.
std::string MasksOfProc() {
  Result<std::string> mounts = sys::ReadFileAt(AT_FDCWD, "/proc/self/mountinfo", 16 << 20);
  std::string masks;
  for (size_t at = 0; mounts && (at = mounts->find(" /proc/", at)) != std::string::npos; ++at) {
    size_t end = mounts->find(' ', at + 1);
    masks += mounts->substr(at, end - at);
  }
  return masks;
}

}  // namespace

Result<std::string> ProbeMapped() {
  if (geteuid() == kOverflowId) return Wrong("the id map did not take");
  sys::CapabilitySets sets = BAWN_TRY(sys::ReadCapabilities());
  if (sets.effective == 0) return Wrong("no capability in the new user namespace");
  return "clone3, identity map of " + std::to_string(geteuid());
}

Result<std::string> ProbeAllNamespaces() {
  if (getpid() != 1) return Wrong("not pid 1 of a new pid namespace");
  BAWN_CHECK_OK(sys::SetHostname("bawn-probe"));
  BAWN_CHECK_OK(sys::MakeTreePrivate());
  return "user, mount, pid, net, ipc, uts, cgroup";
}

Result<std::string> ProbeSecondUserns() {
  UniqueFd proc = BAWN_TRY(sys::Openat2(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY));
  uint32_t uid = geteuid(), gid = getegid();
  BAWN_CHECK_OK(sys::MakeTreePrivate());
  sys::FsBuilder tmpfs = BAWN_TRY(sys::FsBuilder::Open("tmpfs"));
  UniqueFd mount = BAWN_TRY(tmpfs.Mount(sys::kReadOnly));
  BAWN_CHECK_OK(sys::MoveMount(mount.get(), AT_FDCWD, "/usr"));
  BAWN_CHECK_OK(sys::Unshare(kNewUser | kNewNs));
  BAWN_CHECK_OK(sys::WriteOwnIdentityMap(proc.get(), uid, gid));
  int writable = sys::TryMakeWritable("/usr"), umount = sys::TryUmount("/usr");
  std::string seen = "umount " + ErrnoName(umount) + ", remount writable " + ErrnoName(writable);
  if (umount != EINVAL || writable != EPERM) return Wrong("mounts are not locked: " + seen);
  return seen;
}

Result<std::string> ProbeNamespaceLid() {
  UniqueFd proc = BAWN_TRY(FreshProc());
  UniqueFd lid = BAWN_TRY(sys::Openat2(proc.get(), "sys/user/max_user_namespaces", O_WRONLY));
  BAWN_CHECK_OK(sys::WriteAll(lid.get(), "0"));
  Result<> nested = sys::Unshare(kNewUser);
  if (nested) return Wrong("user.max_user_namespaces = 0 does not bind");
  if (nested.error().sys_errno != ENOSPC) return std::unexpected(nested.error());
  return "user.max_user_namespaces = 0: unshare ENOSPC";
}

Result<std::string> ProbeFreshProc() {
  Result<UniqueFd> proc = FreshProc();
  if (!proc) {
    Error error = proc.error();
    std::string masks = MasksOfProc();
    if (error.sys_errno == EPERM && !masks.empty()) {
      error.message += "; /proc is masked here by mounts at" + masks;
      error.hint = "run outside of this container, or start it without mounts over /proc";
    }
    return std::unexpected(error);
  }
  std::string self = BAWN_TRY(sys::Readlinkat(proc->get(), "self"));
  if (self != std::to_string(getpid())) return Wrong("proc shows pid " + self);
  return "shows only its own pid namespace";
}

Result<std::string> ProbeNetwork() {
  BAWN_CHECK_OK(sys::BringLoopbackUp());
  std::vector<sys::Interface> links = BAWN_TRY(sys::ListInterfaces());
  for (const sys::Interface& link : links) {
    if (link.name != "lo" && link.up) return Wrong("interface " + link.name + " is up");
  }
  sys::Attempt udp = sys::TryConnectInet(sys::Transport::kUdp, kTestNet1, 9);
  if (udp.error != ENETUNREACH) {
    return FailErrno(udp.error, "a route to 192.0.2.1 in a new network namespace");
  }
  return "lo up, no route: connect ENETUNREACH";
}

}  // namespace bawn::contain
