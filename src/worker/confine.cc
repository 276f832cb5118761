#include "worker/confine.h"

#include <array>
#include <cerrno>

#include "base/text.h"
#include "sys/files.h"
#include "sys/landlock.h"
#include "sys/limits.h"
#include "sys/raw.h"
#include "sys/syscall_numbers.h"

namespace bawn::worker {
namespace {

constexpr uint64_t kReadRights = sys::kFsReadFile | sys::kFsReadDir;
// All but execute, and nodes that no op ever makes.
constexpr uint64_t kWriteRights =
    sys::kLandlockFsAll & ~uint64_t{sys::kFsExecute | sys::kFsMakeChar | sys::kFsMakeBlock |
                                    sys::kFsMakeSock | sys::kFsMakeFifo | sys::kFsIoctlDev};

sys::LandlockRulesetAttr HandledBy(int abi) {
  sys::LandlockRulesetAttr attr;
  attr.handled_access_fs = sys::kLandlockFsAll;
  if (abi < 5) attr.handled_access_fs &= ~uint64_t{sys::kFsIoctlDev};
  if (abi < 3) attr.handled_access_fs &= ~uint64_t{sys::kFsTruncate};
  if (abi >= 4) attr.handled_access_net = sys::kNetBindTcp | sys::kNetConnectTcp;
  if (abi >= sys::kLandlockAbiOfScopes) {
    attr.scoped = sys::kScopeAbstractUnixSocket | sys::kScopeSignal;
  }
  return attr;
}

Result<bool> EnterLandlock(const std::vector<std::string>& writable) {
  Result<int> abi = sys::LandlockVersion();
  if (!abi || *abi < 2) return false;
  sys::LandlockRulesetAttr attr = HandledBy(*abi);
  UniqueFd ruleset = BAWN_TRY(sys::LandlockCreateRuleset(attr));
  auto allow = [&](const std::string& path, uint64_t rights) -> Result<> {
    Result<UniqueFd> fd = sys::Openat2(AT_FDCWD, path, O_PATH);
    if (!fd && (fd.error().sys_errno == ENOENT || fd.error().sys_errno == ENOTDIR)) return {};
    if (!fd) return std::unexpected(std::move(fd).error());
    return sys::LandlockAddPathRule(ruleset.get(), fd->get(), rights & attr.handled_access_fs);
  };
  BAWN_CHECK_OK(allow("/", kReadRights));
  for (const std::string& path : writable) BAWN_CHECK_OK(allow(path, kWriteRights));
  int failed = sys::LandlockRestrictSelf(ruleset.get());
  if (failed != 0) return FailErrno(failed, "landlock_restrict_self");
  return true;
}

// One BPF instruction (struct sock_filter of linux/filter.h); the codes of BPF_LD|W|ABS,
// BPF_JMP|JEQ|K, BPF_JMP|JGE|K, BPF_JMP|JSET|K and BPF_RET|K.
struct Instruction {
  uint16_t code;
  uint8_t jump_true;
  uint8_t jump_false;
  uint32_t k;
};
constexpr uint16_t kLoad = 0x20, kIfEqual = 0x15, kIfAtLeast = 0x35, kIfAnyBit = 0x45,
                   kReturn = 0x06;
// Offsets in struct seccomp_data; an argument's low half (the kernel looks at 32 bits, RT-06).
constexpr uint32_t kNumberAt = 0, kArchAt = 4, kFirstArgumentAt = 16;
constexpr uint32_t kArchX86_64 = 0xc000003e, kX32Bit = 0x40000000, kCloneThread = 0x00010000;
constexpr uint32_t kAllow = 0x7fff0000, kKillProcess = 0x80000000, kErrno = 0x00050000;

// Programs, processes, sockets, other processes, namespaces and mounts, and the kernel's far
// corners: nothing that an op needs.
constexpr uint32_t kDenied[] = {
    sys::kNrExecve,
    sys::kNrExecveat,
    sys::kNrFork,
    sys::kNrVfork,
    sys::kNrSocket,
    sys::kNrSocketpair,
    sys::kNrConnect,
    sys::kNrBind,
    sys::kNrListen,
    sys::kNrAccept,
    sys::kNrAccept4,
    sys::kNrPtrace,
    sys::kNrProcessVmReadv,
    sys::kNrProcessVmWritev,
    sys::kNrPidfdOpen,
    sys::kNrPidfdGetfd,
    sys::kNrPidfdSendSignal,
    sys::kNrKill,
    sys::kNrUnshare,
    sys::kNrSetns,
    sys::kNrMount,
    sys::kNrUmount2,
    sys::kNrPivotRoot,
    sys::kNrChroot,
    sys::kNrOpenTree,
    sys::kNrMoveMount,
    sys::kNrFsopen,
    sys::kNrFsmount,
    sys::kNrMountSetattr,
    sys::kNrBpf,
    sys::kNrPerfEventOpen,
    sys::kNrUserfaultfd,
    sys::kNrKeyctl,
    sys::kNrAddKey,
    sys::kNrRequestKey,
    sys::kNrOpenByHandleAt,
    sys::kNrIoUringSetup,
    sys::kNrMknod,
    sys::kNrMknodat,
    sys::kNrSetuid,
    sys::kNrSetgid,
    sys::kNrSetgroups,
};

constexpr size_t kDeniedCount = std::size(kDenied);
// Where the program's parts start.
constexpr size_t kTestsAt = 7;
constexpr size_t kAllowAt = kTestsAt + kDeniedCount;
constexpr size_t kCloneAt = kAllowAt + 1;
constexpr size_t kDenyAt = kCloneAt + 2;
constexpr size_t kNosysAt = kDenyAt + 1;
constexpr size_t kThreadAt = kNosysAt + 1;
constexpr size_t kProgramSize = kThreadAt + 1;

constexpr Instruction JumpTo(size_t at, uint16_t test, uint32_t k, size_t target) {
  return {test, static_cast<uint8_t>(target - at - 1), 0, k};
}

// clone3 does not exist (its flags are behind a pointer) and clone makes threads only: a pack is
// made by two, and the C library falls back to clone.
constexpr std::array<Instruction, kProgramSize> MakeProgram() {
  std::array<Instruction, kProgramSize> program = {};
  program[0] = {kLoad, 0, 0, kArchAt};
  program[1] = {kIfEqual, 1, 0, kArchX86_64};
  program[2] = {kReturn, 0, 0, kKillProcess};
  program[3] = {kLoad, 0, 0, kNumberAt};
  program[4] = JumpTo(4, kIfAtLeast, kX32Bit, kNosysAt);
  program[5] = JumpTo(5, kIfEqual, sys::kNrClone3, kNosysAt);
  program[6] = JumpTo(6, kIfEqual, sys::kNrClone, kCloneAt);
  for (size_t i = 0; i < kDeniedCount; ++i) {
    program[kTestsAt + i] = JumpTo(kTestsAt + i, kIfEqual, kDenied[i], kDenyAt);
  }
  program[kAllowAt] = {kReturn, 0, 0, kAllow};
  program[kCloneAt] = {kLoad, 0, 0, kFirstArgumentAt};
  program[kCloneAt + 1] = JumpTo(kCloneAt + 1, kIfAnyBit, kCloneThread, kThreadAt);
  program[kDenyAt] = {kReturn, 0, 0, kErrno | EPERM};
  program[kNosysAt] = {kReturn, 0, 0, kErrno | ENOSYS};
  program[kThreadAt] = {kReturn, 0, 0, kAllow};
  return program;
}
static_assert(kProgramSize < 256, "a jump is eight bits");

constexpr std::array<Instruction, kProgramSize> kProgram = MakeProgram();

}  // namespace

JsonObject ToJson(const Confined& confined) {
  JsonObject json;
  json["landlock"] = confined.landlock;
  json["seccomp"] = confined.seccomp;
  return json;
}

Result<Confined> Confine(const std::vector<std::string>& writable) {
  Confined confined;
  BAWN_CHECK_OK(sys::LowerLimit(sys::Limit::kCore, 0));
  if (int failed = sys::raw::SetNoNewPrivs(); failed != 0) return FailErrno(failed, "prctl");
  confined.landlock = BAWN_TRY(EnterLandlock(writable));
  int failed = sys::raw::LoadFilter(kProgram.data(), kProgram.size());
  if (failed != 0 && failed != ENOSYS && failed != EINVAL) return FailErrno(failed, "seccomp");
  confined.seccomp = failed == 0;
  return confined;
}

}  // namespace bawn::worker
