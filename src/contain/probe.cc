#include "contain/probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ids.h"
#include "contain/cgroup.h"
#include "contain/probe_child.h"
#include "contain/probes.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::contain {
namespace {

constexpr uint64_t kNewUser = 0x10000000, kNewNs = 0x00020000;

constexpr char kAppArmorSysctl[] = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
constexpr char kAppArmorRemedy[] =
    "install Bawn's AppArmor profile (the package puts it at /etc/apparmor.d/bawn) and load it: "
    "apparmor_parser -r /etc/apparmor.d/bawn";
constexpr char kKernelRemedy[] = "use a kernel of Linux 6.12 or later with this built in";
constexpr char kLandlockRemedy[] =
    "use a kernel of Linux 6.12 or later with landlock in its lsm= list";
constexpr char kCgroupRemedy[] =
    "start Bawn as root, or in a delegated group: systemd-run --user --scope -p Delegate=yes bawn "
    "…";

// A sysctl's text without its newline; empty when the kernel has none of that name.
std::string Sysctl(const char* path) {
  Result<std::string> text = sys::ReadFileAt(AT_FDCWD, path, 4096);
  if (!text) return "";
  return text->substr(0, text->find('\n'));
}

bool Exists(const char* path) { return sys::Fstatat(AT_FDCWD, path).has_value(); }

// In a chroot no mount lies at "/" in the process's own view (proc_pid_mountinfo(5)).
bool InChroot() {
  Result<std::string> mounts = sys::ReadFileAt(AT_FDCWD, "/proc/self/mountinfo", 16 << 20);
  return mounts && mounts->find(" / rw") == std::string::npos &&
         mounts->find(" / ro") == std::string::npos;
}

NamespaceHints LookForHints() {
  NamespaceHints hints;
  hints.apparmor = Sysctl(kAppArmorSysctl);
  hints.container = Exists("/.dockerenv") || Exists("/run/.containerenv");
  hints.chroot = InChroot();
  for (const char* sysctl :
       {"/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/user/max_user_namespaces"}) {
    if (Sysctl(sysctl) == "0") hints.closed_by = sysctl;
  }
  return hints;
}

std::vector<ProbeFact> NamespaceFacts() {
  constexpr uint64_t kAll = sys::kAllNamespaces;
  NamespaceHints hints = LookForHints();
  std::string remedy = NamespaceRemedy(hints);
  std::vector<ProbeFact> facts;
  facts.push_back(FactOf("userns", TryInChild(kNewUser, ProbeMapped), remedy));
  facts.push_back(AppArmorFact(hints, facts.front()));
  facts.push_back(FactOf("namespaces", TryInChild(kAll, ProbeAllNamespaces), remedy));
  facts.push_back(FactOf("second_userns", TryInChild(kAll, ProbeSecondUserns), remedy));
  facts.push_back(FactOf("namespace_lid", TryInChild(kAll, ProbeNamespaceLid), remedy));
  facts.push_back(FactOf("proc", TryInChild(kAll, ProbeFreshProc), remedy));
  facts.push_back(FactOf("network", TryInChild(kAll, ProbeNetwork), remedy));
  return facts;
}

// A few levels of our own files, with what the kernel left in an overlay's work directory: closed
// (mode 000) directories and devices. What cannot be removed is noticed by the caller.
void RemoveSmallTree(int parent, const std::string& name, int depth = 8) {
  Result<UniqueFd> entry = sys::Openat2(parent, name, O_PATH, 0, sys::kUntrusted);
  if (entry && depth > 0 && sys::FchmodPath(entry->get(), 0700)) {
    Result<UniqueFd> dir = sys::OpenDir(parent, name, sys::kUntrusted);
    Result<std::vector<sys::DirEntry>> entries = std::vector<sys::DirEntry>();
    if (dir) entries = sys::ListDir(dir->get(), 1000);
    for (size_t i = 0; dir && entries && i < entries->size(); ++i) {
      RemoveSmallTree(dir->get(), (*entries)[i].name, depth - 1);
    }
  }
  if (!sys::Unlinkat(parent, name)) (void)sys::Unlinkat(parent, name, AT_REMOVEDIR);
}

Result<std::string> TryStateOverlay(const std::string& state_dir) {
  UniqueFd state = BAWN_TRY(sys::OpenDir(AT_FDCWD, state_dir));
  std::string name = NewId("probe_");
  BAWN_CHECK_OK(sys::Mkdirat(state.get(), name, 0700));
  Result<std::string> answer = [&]() -> Result<std::string> {
    for (const char* dir : {"/upper", "/work"}) {
      BAWN_CHECK_OK(sys::Mkdirat(state.get(), name + dir, 0700));
    }
    std::string directory = state_dir + "/" + name;
    return TryInChild(kNewUser | kNewNs, [&] { return ProbeOverlayIn(directory); });
  }();
  RemoveSmallTree(state.get(), name);
  if (sys::Fstatat(state.get(), name)) {
    return Fail(ErrorCode::kInternal, "could not remove " + state_dir + "/" + name);
  }
  return answer;
}

std::vector<ProbeFact> MountFacts(const ProbeOptions& options) {
  std::vector<ProbeFact> facts;
  for (bool is_volatile : {false, true}) {
    facts.push_back(FactOf(is_volatile ? "overlay_volatile" : "overlay_userxattr",
                           TryInChild(kNewUser | kNewNs, [=] { return ProbeOverlay(is_volatile); }),
                           kKernelRemedy));
  }
  facts.push_back(
      FactOf("detached_exec", TryInChild(kNewUser | kNewNs, ProbeDetachedExec), kKernelRemedy));
  if (!options.state_dir.empty()) {
    facts.push_back(FactOf("overlay_state", TryStateOverlay(options.state_dir),
                           "put Bawn's state on a file system that can be an overlay's upper "
                           "(ext4, xfs, btrfs, tmpfs): BAWN_STATE_DIR; until then workspaces are "
                           "copied"));
  }
  return facts;
}

std::vector<ProbeFact> WallFacts() {
  std::vector<ProbeFact> facts;
  facts.push_back(FactOf("landlock", TryInChild(0, ProbeLandlock), kLandlockRemedy));
  facts.push_back(FactOf("seccomp", TryInChild(0, ProbeSeccomp), kKernelRemedy));
  facts.push_back(FactOf("pidfd", TryInChild(0, ProbePidfd), kKernelRemedy));
  facts.push_back(FactOf("sealed_memfd", TryInChild(0, ProbeSealedMemfd), kKernelRemedy));
  facts.push_back(FactOf("cgroup", TryInChild(0, ProbeCgroup), kCgroupRemedy));
  return facts;
}

std::vector<ProbeFact> RootFacts(const ProbeOptions& options) {
  std::vector<ProbeFact> facts;
  facts.push_back(
      FactOf("idmapped_mounts", TryInChild(kNewNs, ProbeIdmappedMounts), kKernelRemedy));
  Result<std::string> subids = [&]() -> Result<std::string> {
    SubIds ids = BAWN_TRY(ReadSubIds(options.subids));
    return "ids " + std::to_string(ids.uids.first) + " + " + std::to_string(ids.uids.count);
  }();
  facts.push_back(FactOf("subuid", subids, ""));
  return facts;
}

void Append(std::vector<ProbeFact>& facts, std::vector<ProbeFact> more) {
  std::move(more.begin(), more.end(), std::back_inserter(facts));
}

}  // namespace

std::string NamespaceRemedy(const NamespaceHints& hints) {
  if (hints.apparmor == "1") return kAppArmorRemedy;
  if (hints.container) {
    return "this is a container: start it with a seccomp profile that allows clone, unshare, mount "
           "and pivot_root, or run Bawn outside of it";
  }
  if (hints.chroot) {
    return "this is a chroot, where the kernel refuses user namespaces: enter the tree by "
           "pivot_root, or run Bawn outside of it";
  }
  if (!hints.closed_by.empty()) {
    return "the administrator closed user namespaces (" + hints.closed_by +
           " is 0): use --level restricted, or run Bawn as root";
  }
  return kKernelRemedy;
}

ProbeFact AppArmorFact(const NamespaceHints& hints, const ProbeFact& userns) {
  if (hints.apparmor != "1") return {"apparmor", "ok", "does not restrict user namespaces", ""};
  if (userns.state == "ok") {
    return {"apparmor", "ok", "restricts user namespaces, but not Bawn", ""};
  }
  return {"apparmor", "missing",
          "kernel.apparmor_restrict_unprivileged_userns = 1 and no profile for this program",
          kAppArmorRemedy};
}

plan::Level HighestLevel(const std::vector<ProbeFact>& facts) {
  auto is_ok = [&facts](std::string_view name) {
    return std::any_of(facts.begin(), facts.end(), [&](const ProbeFact& fact) {
      return fact.name == name && fact.state == "ok";
    });
  };
  auto all_ok = [&](std::initializer_list<std::string_view> names) {
    return std::all_of(names.begin(), names.end(), is_ok);
  };
  bool root = std::any_of(facts.begin(), facts.end(),
                          [](const ProbeFact& fact) { return fact.name == "subuid"; });
  if (root && !is_ok("subuid")) return plan::Level::kNone;
  if (!all_ok({"landlock", "seccomp"})) return plan::Level::kNone;
  if (!all_ok({"userns", "namespaces", "second_userns", "namespace_lid", "proc", "network",
               "overlay_userxattr", "overlay_volatile", "detached_exec", "pidfd",
               "sealed_memfd"})) {
    return root ? plan::Level::kNone : plan::Level::kRestricted;  // as root it is not offered
  }
  return is_ok("cgroup") ? plan::Level::kBounded : plan::Level::kIsolated;
}

Result<ProbeReport> ProbeMachine(const ProbeOptions& options) {
  sys::AssertSingleThreaded();
  ProbeReport report;
  Append(report.facts, NamespaceFacts());
  Append(report.facts, MountFacts(options));
  Append(report.facts, WallFacts());
  if (geteuid() == 0) Append(report.facts, RootFacts(options));
  report.highest = HighestLevel(report.facts);
  return report;
}

}  // namespace bawn::contain
