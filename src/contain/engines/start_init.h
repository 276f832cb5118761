// contain/engines/start_init.h
// The child's half of NativeEngine::Provision: from clone3 to the exec of bawn-init.
// Decided in: policy/ (the Plan's ids). Enforced by: the kernel. Recorded as: layer "userns".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contain/cgroup.h"

namespace bawn::contain {

// All borrowed from the parent, whose memory this child has a copy of until exec.
struct InitStart {
  int program = -1;
  std::string program_path;  // what `program` was opened as, found again in the new mount namespace
  int control = -1;
  int other_end = -1;  // of `control`: closed first, so that the parent's death is seen
  int plan = -1;
  std::vector<int> slots;
  // Rootless: the caller's ids, which the child maps to themselves. Root: the inner ids it takes
  // once the parent has written the maps and sent Proceed.
  uint32_t uid = 0;
  uint32_t gid = 0;
  bool maps_by_parent = false;
  bool namespaces = true;  // false below `isolated`: the same program, as an ordinary process
  const Cgroup* group = nullptr;  // to enter; its v2 part the child was born in
};

// Only sys/ wrappers; ends by exec, or by SetupFailed on the control socket and _exit.
[[noreturn]] void StartInit(const InitStart& start);

}  // namespace bawn::contain
