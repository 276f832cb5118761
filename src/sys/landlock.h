// sys/landlock.h
// The three Landlock calls and the constants of ABI 1 to 7. The build's uapi headers may be older
// than the running kernel, so every constant is defined here with the ABI that brought it.
// Sources: landlock(7), landlock_create_ruleset(2), landlock_add_rule(2),
// landlock_restrict_self(2), Documentation/userspace-api/landlock.rst of Linux 6.18. Threads:
// restrict_self binds the calling thread only. No shared state.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::sys {

// LANDLOCK_ACCESS_FS_*. Those of kLandlockFileRights apply to a file too, the rest to directories.
enum LandlockFs : uint64_t {
  kFsExecute = 1ULL << 0,
  kFsWriteFile = 1ULL << 1,
  kFsReadFile = 1ULL << 2,
  kFsReadDir = 1ULL << 3,
  kFsRemoveDir = 1ULL << 4,
  kFsRemoveFile = 1ULL << 5,
  kFsMakeChar = 1ULL << 6,
  kFsMakeDir = 1ULL << 7,
  kFsMakeReg = 1ULL << 8,
  kFsMakeSock = 1ULL << 9,
  kFsMakeFifo = 1ULL << 10,
  kFsMakeBlock = 1ULL << 11,
  kFsMakeSym = 1ULL << 12,
  kFsRefer = 1ULL << 13,     // ABI 2, Linux 5.19
  kFsTruncate = 1ULL << 14,  // ABI 3, Linux 6.2
  kFsIoctlDev = 1ULL << 15,  // ABI 5, Linux 6.10
};
inline constexpr uint64_t kLandlockFsAll = (1ULL << 16) - 1;  // of ABI 5 to 7
inline constexpr uint64_t kLandlockFileRights =
    kFsExecute | kFsWriteFile | kFsReadFile | kFsTruncate | kFsIoctlDev;

// LANDLOCK_ACCESS_NET_*: ABI 4, Linux 6.7.
enum LandlockNet : uint64_t { kNetBindTcp = 1ULL << 0, kNetConnectTcp = 1ULL << 1 };

// LANDLOCK_SCOPE_*: ABI 6, Linux 6.12.
enum LandlockScope : uint64_t { kScopeAbstractUnixSocket = 1ULL << 0, kScopeSignal = 1ULL << 1 };
inline constexpr int kLandlockAbiOfScopes = 6;

// struct landlock_ruleset_attr of ABI 6.
struct LandlockRulesetAttr {
  uint64_t handled_access_fs = 0;
  uint64_t handled_access_net = 0;
  uint64_t scoped = 0;
};

// The running kernel's ABI. ENOSYS: not built in; EOPNOTSUPP: built in but not enabled at boot.
Result<int> LandlockVersion();
Result<UniqueFd> LandlockCreateRuleset(const LandlockRulesetAttr& attr);
// Grants `access` below `path_fd` (O_PATH is enough). EINVAL when a directory right names a file.
Result<> LandlockAddPathRule(int ruleset_fd, int path_fd, uint64_t access);
// Async-signal-safe: 0 or errno (EPERM without no_new_privs, E2BIG beyond 16 layers).
int LandlockRestrictSelf(int ruleset_fd);

}  // namespace bawn::sys
