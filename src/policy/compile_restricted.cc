// Level `restricted`: no namespaces, so no ops; Landlock rules on the host's own paths. The
// workspace is a copy at a private path, named by the facts. What cannot be said with an allowlist
// of hierarchies (a hole in a shown tree) is refused, never left open.
#include "base/text.h"
#include "policy/asked.h"
#include "policy/build.h"
#include "policy/paths.h"
#include "policy/protected.h"
#include "policy/view/device_table.h"
#include "policy/view/etc_table.h"
#include "policy/view/system_table.h"
#include "policy/view/toolchain_table.h"

namespace bawn::policy {
namespace {

using plan::PathKind;
using plan::PathRights;

void AllowTables(Build* build) {
  for (const SystemRow& row : kSystemTable) {
    if (build->Fact(row.path).kind != PathKind::kDirectory) continue;
    build->Rule(std::string(row.path), PathRights::kReadExecute);
    build->visible.emplace_back(row.path);
  }
  for (const EtcRow& row : kEtcTable) {
    if (build->Exists(row.path)) build->Rule(std::string(row.path), PathRights::kRead);
  }
  for (std::string_view path : {"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"}) {
    build->Rule(std::string(path), PathRights::kRead);
  }
  for (const DeviceRow& row : kDeviceTable) {
    build->Rule(std::string(row.path), PathRights::kDevice);
  }
  // Not /dev/pts: the caller's own terminals are there. The job's one is open already, or /dev/tty.
  build->Rule(std::string(kCpuTopology), PathRights::kRead);
  // The host's: what it lets a process of the same user write of others (oom_score_adj) must stay.
  build->Rule("/proc", PathRights::kRead);
}

void AllowToolchains(Build* build) {
  for (const ToolchainRow& row : kToolchainTable) {
    std::string path = Join(build->host.home, row.path);
    PathKind kind = build->Fact(path).kind;
    if (row.kind == ToolKind::kCache || build->host.home.empty()) continue;
    if (kind != PathKind::kDirectory && kind != PathKind::kFile) continue;
    build->Rule(path, PathRights::kReadExecute);
    build->visible.push_back(path);
    build->Note(plan::Verdict::kAllow, "view:" + path, "view.toolchain." + std::string(row.id),
                kBuiltIn, "toolchain, read-only");
  }
}

Result<> AllowAsked(Build* build) {
  for (std::string_view key : {"ro", "show", "rw"}) {
    std::vector<Asked> all =
        BAWN_TRY(AskedPaths(build->policy, build->request, build->host.home, key));
    for (const Asked& asked : all) {
      AskedVerdict verdict = BAWN_TRY(JudgeAsked(build, asked));
      if (verdict != AskedVerdict::kShow) continue;
      for (const ProtectedMatch& row :
           ProtectedBelow(asked.path, build->host.home, build->host.environment)) {
        if (!build->Exists(row.path)) continue;
        return Refuse(Where(asked), "it holds a protected path: " + EscapeName(row.path),
                      "run at level isolated, which can cover it", "view.protected");
      }
      build->Rule(asked.path, key == "rw" ? PathRights::kWrite : PathRights::kReadExecute);
      build->visible.push_back(asked.path);
      if (key == "rw") build->out.direct_writes.push_back(asked.path);
      build->Note(plan::Verdict::kAllow, "view:" + asked.path, "view." + std::string(key),
                  asked.origin, "asked for");
    }
  }
  return {};
}

Result<> RefuseHides(Build* build) {
  std::vector<Asked> hide =
      BAWN_TRY(AskedPaths(build->policy, build->request, build->host.home, "hide"));
  for (const Asked& asked : hide) {
    bool open = build->IsVisible(asked.path) || IsAtOrBelow(asked.path, build->workspace.path);
    if (open) {
      return Fail(ErrorCode::kUnavailable, Where(asked) + ": level restricted cannot hide it",
                  "run at level isolated", "view.hide");
    }
    build->Note(plan::Verdict::kDeny, "view:" + asked.path, "view.hide", asked.origin,
                "not in the allowlist, hidden or not");
  }
  return {};
}

}  // namespace

Result<> AddRestricted(Build* build) {
  if (!build->request.secrets.empty() || !build->policy.secrets.empty()) {
    return Fail(ErrorCode::kUnavailable, "level restricted has no private place for secrets",
                "run at level isolated", "secrets.level");
  }
  build->user_name = build->host.user_name;
  build->shell = build->host.shell;
  build->out.plan.uid = build->host.uid;
  build->out.plan.gid = build->host.gid;
  AllowTables(build);
  AllowToolchains(build);
  BAWN_CHECK_OK(AllowAsked(build));
  BAWN_CHECK_OK(RefuseHides(build));
  build->home = build->host.home;
  if (!build->request.private_dir.empty()) {
    build->home = Join(build->request.private_dir, "home");
    std::string scratch = Join(build->request.private_dir, "tmp");
    build->out.make_dirs = {build->home, scratch};
    build->Rule(build->home, PathRights::kWrite);
    build->Rule(scratch, PathRights::kWrite);
    build->scratch = scratch;
  }
  return {};
}

}  // namespace bawn::policy
