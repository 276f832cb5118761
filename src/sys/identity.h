// sys/identity.h
// Who the calling process is: ids, id maps of its own user namespace, host name, and the process
// attributes that decide who may look into it. Callers are single-threaded.
// Sources: user_namespaces(7), setresuid(2), prctl(2), sethostname(2).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace bawn::sys {

// Writes setgroups "deny" and the one-line identity maps "uid uid 1", "gid gid 1" of the caller's
// own new user namespace, through `proc_fd` (the root of a proc). The files belong to root while
// the caller is not dumpable (proc(5)).
Result<> WriteOwnIdentityMap(int proc_fd, uint32_t uid, uint32_t gid);
// The maps of another process's new user namespace: ids [inner, inner + count) are [outer, …) here.
struct IdMapLine {
  uint32_t inner = 0;
  uint32_t outer = 0;
  uint32_t count = 1;
};
Result<> WriteIdMaps(int pid, const IdMapLine& uids, const IdMapLine& gids);

Result<> TakeIds(uint32_t uid, uint32_t gid);   // no supplementary groups, then gid, then uid
Result<> CheckIds(uint32_t uid, uint32_t gid);  // all three of each are that id, else an error

Result<> SetHostname(const std::string& name);
Result<> SetDumpable(bool dumpable);
Result<> SetNoNewPrivileges();
Result<bool> HasNoNewPrivileges();
Result<> BecomeSubreaper();
void SetProcessName(const char* name);  // /proc/self/comm, at most 15 bytes

}  // namespace bawn::sys
