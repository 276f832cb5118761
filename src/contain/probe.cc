#include "contain/probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ids.h"
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

// In a chroot no mount lies at "/" in the process's own view.
bool InChroot() {
  Result<std::string> mounts = sys::ReadFileAt(AT_FDCWD, "/proc/self/mountinfo", 16 << 20);
  return mounts && mounts->find(" / / ") == std::string::npos &&
         mounts->find(" / rw") == std::string::npos && mounts->find(" / ro") == std::string::npos;
}

std::string NamespaceRemedy() {
  if (Sysctl(kAppArmorSysctl) == "1") return kAppArmorRemedy;
  if (Exists("/.dockerenv") || Exists("/run/.containerenv")) {
    return "this is a container: start it with a seccomp profile that allows clone, unshare, mount "
           "and pivot_root, or run Bawn outside of it";
  }
  if (InChroot()) {
    return "this is a chroot, where the kernel refuses user namespaces: enter the tree by "
           "pivot_root, or run Bawn outside of it";
  }
  for (const char* sysctl :
       {"/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/user/max_user_namespaces"}) {
    if (Sysctl(sysctl) == "0") {
      return "the administrator closed user namespaces (" + std::string(sysctl) +
             " is 0): use --level restricted, or run Bawn as root";
    }
  }
  return kKernelRemedy;
}

// The restriction itself is no failure: with the profile loaded namespaces work under it.
ProbeFact AppArmorFact(const ProbeFact& userns) {
  std::string value = Sysctl(kAppArmorSysctl);
  if (value != "1") return {"apparmor", "ok", "does not restrict user namespaces", ""};
  if (userns.state == "ok")
    return {"apparmor", "ok", "restricts user namespaces, but not Bawn", ""};
  return {"apparmor", "missing",
          "kernel.apparmor_restrict_unprivileged_userns = 1 and no profile for this program",
          kAppArmorRemedy};
}

std::vector<ProbeFact> NamespaceFacts() {
  constexpr uint64_t kAll = sys::kAllNamespaces;
  std::string remedy = NamespaceRemedy();
  std::vector<ProbeFact> facts;
  facts.push_back(FactOf("userns", TryInChild(kNewUser, ProbeMapped), remedy));
  facts.push_back(AppArmorFact(facts.front()));
  facts.push_back(FactOf("namespaces", TryInChild(kAll, ProbeAllNamespaces), remedy));
  facts.push_back(FactOf("second_userns", TryInChild(kAll, ProbeSecondUserns), remedy));
  facts.push_back(FactOf("namespace_lid", TryInChild(kAll, ProbeNamespaceLid), remedy));
  facts.push_back(FactOf("proc", TryInChild(kAll, ProbeFreshProc), remedy));
  facts.push_back(FactOf("network", TryInChild(kAll, ProbeNetwork), remedy));
  return facts;
}

// upper/ and work/ of a probe overlay, with what the kernel and the probe left in them.
void RemoveOverlayDirs(int parent, const std::string& name) {
  Result<UniqueFd> kernels = sys::Openat2(parent, name + "/work/work", O_PATH | O_DIRECTORY);
  if (kernels) (void)sys::FchmodPath(kernels->get(), 0700);  // the kernel makes it mode 000
  for (const char* file : {"/upper/made", "/upper/below", "/work/work/incompat/volatile"}) {
    if (sys::Unlinkat(parent, name + file)) continue;
    (void)sys::Unlinkat(parent, name + file, AT_REMOVEDIR);
  }
  for (const char* dir :
       {"/work/work/incompat", "/work/work", "/work/index", "/work", "/upper", ""}) {
    (void)sys::Unlinkat(parent, name + dir, AT_REMOVEDIR);
  }
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
  RemoveOverlayDirs(state.get(), name);
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
  facts.push_back(FactOf("sealed_exec", TryInChild(0, ProbeSealedExec),
                         "programs in sealed memory are refused here (vm.memfd_noexec is " +
                             Sysctl("/proc/sys/vm/memfd_noexec") +
                             "): Bawn then runs its init from a read-only mount"));
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
               "overlay_userxattr", "overlay_volatile", "pidfd"})) {
    return plan::Level::kRestricted;
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
