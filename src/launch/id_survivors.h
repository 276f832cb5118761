// launch/id_survivors.h
// What still uses an id of a span: processes, files of sandboxes, System V IPC objects, keys. A
// range with any of these is never leased again: the next sandbox would own them.
// Privilege: root sees all; others see their own. Sources: proc(5), "/proc/sysvipc",
// "/proc/key-users". NOT looked at: the files of other file systems, and IPC namespaces of
// sandboxes, which end with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "contain/subids.h"

namespace bawn::launch {

enum class IdKind : uint8_t { kUser, kGroup };

struct UsedId {
  IdKind kind = IdKind::kUser;
  uint32_t id = 0;
  std::string by;  // "process 4711", "file layers/0/upper/x", "shm of /proc/sysvipc", "key"
};

// Processes (their effective ids), IPC objects of the host's namespace, and keys. What cannot be
// read is an error, never "unused".
Result<std::vector<UsedId>> UsedByKernel(const contain::SubIds& span);

// Files below `dirfd` down to `levels` directories; `first_only` stops at the first. Follows no
// symlink. More than `levels` is an error when `first_only`, which asks about the whole tree.
Result<std::vector<UsedId>> UsedByFiles(const contain::SubIds& span, int dirfd, int levels,
                                        bool first_only);

}  // namespace bawn::launch
