// init/seal.h
// What turns the built tree into a closed one: the second user and mount namespace (locks every
// mount), the lids on further namespaces and watches, and the end of every privilege. Each step is
// read back; the facts are the layers of Ready.
// Sources: user_namespaces(7), namespaces(7) "/proc/sys/user", RT-22, RT-26, RT-31.
// Decided in: policy/compile. Enforced by: the kernel.
// Recorded as: userns, mounts, pidns, network, caps, lids.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/plan.h"
#include "wire/control.h"

namespace bawn::init {

// Enters the second namespaces with an identity map. `proc_fd` is the root of a proc. The process
// is dumpable for the three writes (the map files belong to root otherwise); nobody else lives here
// yet. Gives the descriptor of its own oom_score_adj, opened in that same window.
Result<UniqueFd> EnterLockedNamespaces(int proc_fd, const plan::Plan& plan);

// Writes the lids of the *second* user namespace, reads each back and covers the sysctls of the
// view (below `proc_target`, where one is attached) by their read-only selves.
Result<> CloseLids(int proc_fd, const plan::ProcessLimits& limits, const std::string& proc_target);

// Bounding set, capabilities, no_new_privs.
Result<> DropPrivileges();

// What was read back of everything above. `proc_error` is why there is no proc of this namespace.
struct Evidence {
  int proc_fd = -1;
  std::string proc_error;
  int umount_errno = 0;    // umount2 of a mount, tried before the capabilities were dropped
  int writable_errno = 0;  // clearing read-only on /, tried likewise
  std::string lids_error;  // empty: each lid was written and read back
};
std::vector<wire::LayerFact> ReadBack(const plan::Plan& plan, const Evidence& evidence);

}  // namespace bawn::init
