#include "contain/landlock.h"

#include <fcntl.h>

#include <cerrno>
#include <string>

#include "sys/files.h"
#include "sys/landlock.h"

namespace bawn::contain {
namespace {

constexpr uint64_t kBothScopes = sys::kScopeAbstractUnixSocket | sys::kScopeSignal;
constexpr uint64_t kReadRights = sys::kFsReadFile | sys::kFsReadDir;

// REFER and TRUNCATE go with every write: without them `mv` across directories is EXDEV and `>`
// fails (RT-21). No device nodes: a payload has no use for them, and 0:0 is overlayfs' whiteout.
constexpr uint64_t kWriteRights =
    sys::kFsWriteFile | sys::kFsRemoveDir | sys::kFsRemoveFile | sys::kFsMakeDir | sys::kFsMakeReg |
    sys::kFsMakeSock | sys::kFsMakeFifo | sys::kFsMakeSym | sys::kFsRefer | sys::kFsTruncate;

// READ_DIR is for /dev/pts; a device file takes the file rights of this set.
constexpr uint64_t kDeviceRights =
    kReadRights | sys::kFsWriteFile | sys::kFsTruncate | sys::kFsIoctlDev;

uint64_t AccessOf(plan::PathRights rights) {
  switch (rights) {
    case plan::PathRights::kRead:
      return kReadRights;
    case plan::PathRights::kReadExecute:
      return kReadRights | sys::kFsExecute;
    case plan::PathRights::kWrite:
      return kReadRights | kWriteRights | sys::kFsExecute;
    case plan::PathRights::kWriteNoExecute:
      return kReadRights | kWriteRights;
    case plan::PathRights::kDevice:
      return kDeviceRights;
  }
  return 0;
}

// What leaves a rule out. ELOOP: the path leads through a symlink; in a sandbox that ran a job
// before, the payload may have planted it, and a rule must not follow it to another place.
bool GrantsNothing(int sys_errno) {
  return sys_errno == ENOENT || sys_errno == ENOTDIR || sys_errno == ELOOP || sys_errno == EACCES;
}

Result<> AddRule(int ruleset, const plan::LandlockRule& rule) {
  Result<UniqueFd> fd =
      sys::Openat2(AT_FDCWD, rule.path, O_PATH, 0, sys::kNoSymlinks | sys::kNoMagiclinks);
  if (!fd && GrantsNothing(fd.error().sys_errno)) return {};
  if (!fd) return std::unexpected(WithContext(fd.error(), "landlock rule"));
  sys::FileStat stat = BAWN_TRY(sys::Fstat(fd->get()));
  uint64_t access = AccessOf(rule.rights);
  if (!stat.IsDir()) access &= sys::kLandlockFileRights;
  Result<> added = sys::LandlockAddPathRule(ruleset, fd->get(), access);
  if (!added) return std::unexpected(WithContext(added.error(), "landlock rule for " + rule.path));
  return {};
}

Result<> NeedScopes() {
  int abi = LandlockAbi();
  if (abi >= sys::kLandlockAbiOfScopes) return {};
  return Fail(ErrorCode::kUnavailable,
              "Landlock ABI " + std::to_string(abi) + ": signal and socket scopes need ABI 6",
              "use a kernel of Linux 6.12 or later with landlock in its lsm= list");
}

}  // namespace

int LandlockAbi() {
  Result<int> version = sys::LandlockVersion();
  return version ? *version : 0;
}

Result<UniqueFd> BuildFileRuleset(const std::vector<plan::LandlockRule>& rules, plan::Level level) {
  BAWN_CHECK_OK(NeedScopes());
  sys::LandlockRulesetAttr attr;
  attr.handled_access_fs = sys::kLandlockFsAll;
  attr.scoped = kBothScopes;
  if (level == plan::Level::kRestricted) {
    attr.handled_access_net = sys::kNetBindTcp | sys::kNetConnectTcp;
  }
  UniqueFd ruleset = BAWN_TRY(sys::LandlockCreateRuleset(attr));
  for (const plan::LandlockRule& rule : rules) BAWN_CHECK_OK(AddRule(ruleset.get(), rule));
  return ruleset;
}

Result<UniqueFd> BuildScopeRuleset() {
  BAWN_CHECK_OK(NeedScopes());
  sys::LandlockRulesetAttr attr;
  attr.scoped = kBothScopes;
  return sys::LandlockCreateRuleset(attr);
}

int EnterRuleset(int ruleset_fd) { return sys::LandlockRestrictSelf(ruleset_fd); }

}  // namespace bawn::contain
