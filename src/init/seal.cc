#include "init/seal.h"

#include <array>
#include <cerrno>

#include "init/wall_switch.h"
#include "sys/capabilities.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/mount_proofs.h"
#include "sys/mounts.h"
#include "sys/netif.h"
#include "sys/processes.h"

namespace bawn::init {
namespace {

using wire::LayerFact;
using wire::LayerState;

constexpr uint64_t kSecondNamespaces = 0x10000000 /*USER*/ | 0x00020000 /*NS*/;

struct Lid {
  const char* file;
  uint64_t value;
};

// The `browser` profile opens user, pid and net namespaces to a number (RT-19); the others, and
// with them every mount made in a nested namespace, stay closed.
std::array<Lid, 12> Lids(const plan::ProcessLimits& limits) {
  uint64_t nested = limits.user_namespaces_max;
  return {{{"max_user_namespaces", nested},
           {"max_pid_namespaces", nested},
           {"max_net_namespaces", nested},
           {"max_mnt_namespaces", 0},
           {"max_ipc_namespaces", 0},
           {"max_uts_namespaces", 0},
           {"max_cgroup_namespaces", 0},
           {"max_time_namespaces", 0},
           {"max_inotify_watches", limits.inotify_watches_max},
           {"max_inotify_instances", limits.inotify_instances_max},
           {"max_fanotify_groups", 0},
           {"max_fanotify_marks", 0}}};
}

Result<> CloseLid(int directory, const Lid& lid) {
  UniqueFd file = BAWN_TRY(sys::Openat2(directory, lid.file, O_RDWR));
  std::string value = std::to_string(lid.value);
  BAWN_CHECK_OK(sys::WriteAll(file.get(), value));
  std::array<char, 32> text = {};
  ssize_t size = pread(file.get(), text.data(), text.size(), 0);
  if (size > 0 && std::string_view(text.data(), static_cast<size_t>(size)) == value + "\n")
    return {};
  return Fail(ErrorCode::kInternal,
              std::string(lid.file) + " is not " + value + " after writing it");
}

LayerFact Held(const char* name, std::string how) {
  return {name, LayerState::kHeld, std::move(how)};
}
LayerFact Failed(const char* name, std::string how) {
  return {name, LayerState::kFailed, std::move(how)};
}
LayerFact Unknown(const char* name, std::string how) {
  return {name, LayerState::kUnknown, std::move(how)};
}

LayerFact UserNamespace(const plan::Plan& plan) {
  Result<> ids = sys::CheckIds(plan.uid, plan.gid);
  if (!ids) return Failed("userns", ids.error().message);
  return Held("userns", "read back: ids " + std::to_string(plan.uid) + ":" +
                            std::to_string(plan.gid) + ", identity map of one id");
}

LayerFact Mounts(const Evidence& evidence) {
  Result<bool> read_only = sys::IsReadOnlyMount("/");
  if (!read_only) return Unknown("mounts", read_only.error().message);
  if (!*read_only) return Failed("mounts", "/ is writable");
  if (evidence.umount_errno != EINVAL || evidence.writable_errno != EPERM) {
    return Failed("mounts", "umount " + ErrnoName(evidence.umount_errno) + ", remount " +
                                ErrnoName(evidence.writable_errno));
  }
  return Held("mounts", "tried with all capabilities: umount EINVAL, remount / writable EPERM");
}

LayerFact PidNamespace(const Evidence& evidence) {
  if (!evidence.proc_error.empty()) {
    return Failed("pidns", "no proc of this namespace: " + evidence.proc_error);
  }
  if (getpid() != 1) return Failed("pidns", "not pid 1");
  Result<std::string> self = sys::Readlinkat(evidence.proc_fd, "self");
  if (!self) return Unknown("pidns", self.error().message);
  if (*self != "1") return Failed("pidns", "proc shows pid " + *self + " for pid 1");
  return Held("pidns", "read back: pid 1, and its own proc says so");
}

LayerFact Network() {
  Result<std::vector<sys::Interface>> links = sys::ListInterfaces();
  if (!links) return Unknown("network", links.error().message);
  if (links->size() != 1 || (*links)[0].name != "lo" || !(*links)[0].up) {
    return Failed("network", std::to_string(links->size()) + " interfaces, or lo is not up");
  }
  return Held("network", "read back: lo is the only interface");
}

LayerFact Capabilities() {
  Result<sys::CapabilitySets> sets = sys::ReadCapabilities();
  if (!sets) return Unknown("caps", sets.error().message);
  Result<bool> no_new_privs = sys::HasNoNewPrivileges();
  if (!no_new_privs) return Unknown("caps", no_new_privs.error().message);
  if (!sets->Empty() || !*no_new_privs) return Failed("caps", "a capability or privilege is left");
  return Held("caps", "read back: CapEff 0, CapBnd 0, NoNewPrivs 1");
}

}  // namespace

Result<UniqueFd> EnterLockedNamespaces(int proc_fd, const plan::Plan& plan) {
  if (IsUp(Wall::kSecondUserns)) BAWN_CHECK_OK(sys::Unshare(kSecondNamespaces));
  BAWN_CHECK_OK(sys::SetDumpable(true));
  if (IsUp(Wall::kSecondUserns)) {
    BAWN_CHECK_OK(sys::WriteOwnIdentityMap(proc_fd, plan.uid, plan.gid));
  }
  UniqueFd oom = BAWN_TRY(sys::Openat2(proc_fd, "self/oom_score_adj", O_RDWR));
  if (IsUp(Wall::kPid1Dumpable)) BAWN_CHECK_OK(sys::SetDumpable(false));
  return oom;
}

Result<> CloseLids(int proc_fd, const plan::ProcessLimits& limits, const std::string& proc_target) {
  // Cloned before the lids are on (a detached mount counts as a mount namespace), attached after.
  UniqueFd sysctls;
  if (!proc_target.empty()) {
    sysctls = BAWN_TRY(sys::CloneTree(AT_FDCWD, proc_target + "/sys", false));
    BAWN_CHECK_OK(sys::SetMountAttributes(
        sysctls.get(), sys::kReadOnly | sys::kNoSuid | sys::kNoDev | sys::kNoExec, false));
  }
  UniqueFd user = BAWN_TRY(sys::OpenDir(proc_fd, "sys/user"));
  for (const Lid& lid : Lids(limits)) BAWN_CHECK_OK(CloseLid(user.get(), lid));
  if (!sysctls.valid()) return {};
  return sys::MoveMount(sysctls.get(), AT_FDCWD, proc_target + "/sys");
}

Result<> DropPrivileges() {
  // Not dropped: then what exec keeps, too.
  BAWN_CHECK_OK(IsUp(Wall::kCapabilities) ? sys::DropAllCapabilities()
                                          : sys::RaiseAmbientCapabilities());
  return IsUp(Wall::kNoNewPrivs) ? sys::SetNoNewPrivileges() : Result<>();
}

std::vector<wire::LayerFact> ReadBack(const plan::Plan& plan, const Evidence& evidence) {
  return {UserNamespace(plan),
          Mounts(evidence),
          PidNamespace(evidence),
          Network(),
          Capabilities(),
          evidence.lids_error.empty()
              ? Held("lids", "read back: user.max_*_namespaces, max_inotify_*, max_fanotify_*")
              : Failed("lids", evidence.lids_error)};
}

}  // namespace bawn::init
