// The private home, and where it may stand.
#include <algorithm>

#include "policy/build.h"
#include "policy/paths.h"
#include "policy/view/device_table.h"
#include "policy/view/system_table.h"

namespace bawn::policy {
namespace {

// A home that a private file system may cover: service users live in /usr/sbin, /dev or /.
bool CanBeCovered(std::string_view home) {
  if (home.empty() || home == "/" || home == "/tmp" || Overlaps(home, "/etc")) return false;
  for (const SystemRow& row : kSystemTable) {
    if (Overlaps(home, row.path)) return false;
  }
  for (const RefusedTree& tree : kRefusedTrees) {
    if (Overlaps(home, tree.path)) return false;
  }
  return true;
}

}  // namespace

std::string HomeInView(const plan::HostFacts& host) {
  return CanBeCovered(host.home) ? host.home : "/home/user";
}

void AddHome(Build* build) {
  uint64_t bytes = std::max(build->host.memory_bytes / kScratchShare, kScratchBytesMin);
  build->out.plan.ops.push_back(TmpfsOp(build->home, bytes, kScratchInodes, 0700));
  build->Rule(build->home, plan::PathRights::kWrite);
  build->visible.push_back(build->home);
  build->Note(plan::Verdict::kAllow, "view:" + build->home, "view.home", kBuiltIn,
              "an empty private home; what is written there ends with the sandbox",
              "--ro PATH shows one path of the real one");
}

}  // namespace bawn::policy
