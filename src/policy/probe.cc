// Which host paths Compile wants to know.
#include <map>

#include "policy/build.h"
#include "policy/paths.h"
#include "policy/protected.h"
#include "policy/view/device_table.h"
#include "policy/view/etc_table.h"
#include "policy/view/system_table.h"
#include "policy/view/toolchain_table.h"

namespace bawn::policy {
namespace {

using Probes = std::map<std::string, ProbePath>;

ProbePath& Want(Probes* probes, std::string path) {
  ProbePath& probe = (*probes)[path];
  probe.path = std::move(path);
  return probe;
}

void WantTables(Probes* probes) {
  for (const SystemRow& row : kSystemTable) Want(probes, std::string(row.path));
  for (std::string_view path : kSystemCovers) Want(probes, std::string(path));
  Want(probes, std::string(kCpuTopology));
  for (const EtcRow& row : kEtcTable) {
    ProbePath& probe = Want(probes, std::string(row.path));
    probe.content = row.form == EtcForm::kCopy || row.form == EtcForm::kCopyEach;
    probe.follow = probe.content;
    probe.children = row.form == EtcForm::kCopyEach;
  }
}

// A refused path needs no fact: Compile refuses it by its name.
void WantAsked(Probes* probes, const Policy& policy, const JobRequest& request,
               const std::string& home) {
  for (std::string_view key : {"ro", "rw", "hide", "show"}) {
    Result<std::vector<Asked>> asked = AskedPaths(policy, request, home, key);
    if (!asked) continue;
    for (const Asked& one : *asked) {
      Want(probes, one.path);
      if (key == "hide") continue;
      for (const ProtectedMatch& row : ProtectedBelow(one.path, home, {})) Want(probes, row.path);
    }
  }
}

}  // namespace

std::vector<ProbePath> PathsToProbe(const Policy& policy, const JobRequest& request,
                                    const std::string& home) {
  Probes probes;
  WantTables(&probes);
  if (!home.empty()) {
    // No protected path lies in any of these: a test holds the two tables against each other.
    for (const ToolchainRow& row : kToolchainTable) Want(&probes, Join(home, row.path));
  }
  WantAsked(&probes, policy, request, home);
  std::vector<ProbePath> paths;
  paths.reserve(probes.size());
  for (auto& [path, probe] : probes) paths.push_back(std::move(probe));
  return paths;
}

}  // namespace bawn::policy
