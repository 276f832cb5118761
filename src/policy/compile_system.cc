// System software, devices and kernel interfaces of the view (view/system_table.h, device_table.h).
#include <algorithm>

#include "policy/build.h"
#include "policy/view/device_table.h"
#include "policy/view/system_table.h"

namespace bawn::policy {
namespace {

using plan::OpKind;
using plan::PathKind;

plan::Op PlainOp(OpKind kind, std::string_view target) {
  plan::Op op;
  op.kind = kind;
  op.target = target;
  return op;
}

// A share of the machine's memory, but never less than `bytes_min`.
uint64_t Share(const Build& build, uint64_t share, uint64_t bytes_min) {
  return std::max(build.host.memory_bytes / share, bytes_min);
}

}  // namespace

void AddSystem(Build* build) {
  std::vector<plan::Op>& ops = build->out.plan.ops;
  for (const SystemRow& row : kSystemTable) {
    const plan::PathFact& fact = build->Fact(row.path);
    if (fact.kind == PathKind::kSymlink) {
      ops.push_back(SymlinkOp(std::string(row.path), fact.link_target));
    } else if (fact.kind == PathKind::kDirectory) {
      // RT-05: only what root owns may be a bind; a socket there was put there by root.
      ops.push_back(fact.uid == 0 ? BindOp(row.path, fact, true) : OverlayOp(row.path, fact));
    } else {
      continue;
    }
    build->visible.emplace_back(row.path);
    build->Note(plan::Verdict::kAllow, "view:" + std::string(row.path), std::string(row.rule_id),
                kBuiltIn, row.reason, "--hide " + std::string(row.path));
  }
  for (std::string_view path : kSystemCovers) {
    const plan::PathFact& fact = build->Fact(path);
    if (fact.kind != PathKind::kFile) continue;
    ops.push_back(EmptyCoverOp(path, fact));
    build->out.covered.emplace_back(path);
    build->Note(plan::Verdict::kDeny, "view:" + std::string(path), "view.protected", kBuiltIn,
                "it holds registry credentials on some machines", "--secret NAME for one value");
  }
}

void AddDevices(Build* build) {
  std::vector<plan::Op>& ops = build->out.plan.ops;
  for (const DeviceRow& row : kDeviceTable) {
    plan::Op op = BindOp(row.path, {}, false);
    op.devices = true;
    ops.push_back(std::move(op));
  }
  ops.push_back(PlainOp(OpKind::kDevpts, "/dev/pts"));
  ops.push_back(TmpfsOp("/dev/shm", Share(*build, kSharedMemoryShare, kSharedMemoryBytesMin),
                        kSharedMemoryInodes, 01777));
  plan::Op mqueue = PlainOp(OpKind::kMqueue, "/dev/mqueue");
  mqueue.optional = true;  // a kernel without message queues lacks them outside too
  ops.push_back(std::move(mqueue));
  for (const LinkRow& link : kDeviceLinks) {
    ops.push_back(SymlinkOp(std::string(link.path), std::string(link.target)));
  }
  ops.push_back(PlainOp(OpKind::kProc, "/proc"));
  if (build->Exists(kCpuTopology)) {
    plan::Op cpu = BindOp(kCpuTopology, build->Fact(kCpuTopology), true);
    cpu.recursive = false;
    cpu.optional = true;
    ops.push_back(std::move(cpu));
    build->Note(plan::Verdict::kAllow, "view:" + std::string(kCpuTopology), "view.sys", kBuiltIn,
                "CPU topology: nproc, allocators and the JVM read it");
  }
  ops.push_back(
      TmpfsOp("/tmp", Share(*build, kScratchShare, kScratchBytesMin), kScratchInodes, 01777));
  for (const LinkRow& link : kScratchLinks) {
    ops.push_back(SymlinkOp(std::string(link.path), std::string(link.target)));
  }
  build->Rule("/", plan::PathRights::kReadExecute);
  build->Rule("/dev", plan::PathRights::kDevice);
  build->Rule("/dev/shm", plan::PathRights::kWriteNoExecute);
  build->Rule("/dev/mqueue", plan::PathRights::kWriteNoExecute);
  // RT-21: thread names and oom_score_adj are written below /proc/self.
  build->Rule("/proc", plan::PathRights::kWriteNoExecute);
  build->Rule("/tmp", plan::PathRights::kWrite);
}

}  // namespace bawn::policy
