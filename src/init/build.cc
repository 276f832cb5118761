#include "init/build.h"

#include "contain/landlock.h"
#include "contain/seccomp.h"
#include "init/ops.h"
#include "init/seal.h"
#include "init/tree.h"
#include "init/wall_switch.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/mount_proofs.h"
#include "sys/mounts.h"
#include "sys/netif.h"

namespace bawn::init {
namespace {

// Room in the root tmpfs: the Plan's file contents, a page each, and slack for names.
uint64_t TreeBytes(const plan::Plan& plan) {
  uint64_t bytes = 1 << 20;
  for (const plan::Op& op : plan.ops) bytes += (op.content.size() + 8191) & ~uint64_t{4095};
  return bytes;
}

Result<> MakeRoot(const Tree& tree, std::string* stage) {
  *stage = "pivot";
  if (fchdir(tree.root()) < 0) return FailErrno(errno, "fchdir(new root)");
  BAWN_CHECK_OK(sys::PivotRootHere());
  *stage = "root-read-only";
  return sys::SetMountAttributes(tree.root(), sys::kReadOnly, false);
}

// Builds the view and makes it "/"; returns the path attached last.
Result<std::string> EnterView(const plan::Plan& plan, OpContext* context, std::string* stage) {
  if (!IsUp(Wall::kMounts)) {
    if (chdir("/") < 0) return FailErrno(errno, "chdir(/)");
    return "/";
  }
  Tree tree = BAWN_TRY(Tree::Create(TreeBytes(plan)));
  context->tree = &tree;
  for (const plan::Op& op : plan.ops) {
    *stage = "op " + op.target;
    BAWN_CHECK_OK(CarryOut(op, context));
  }
  context->tree = nullptr;
  BAWN_CHECK_OK(MakeRoot(tree, stage));
  return tree.last_attached();
}

Result<> PrepareNetworkAndName(const plan::Plan& plan, std::string* stage) {
  *stage = "loopback";
  BAWN_CHECK_OK(sys::BringLoopbackUp());
  *stage = "hostname";
  return sys::SetHostname(plan.hostname);
}

// An error behind a masked /proc, where the sysctls are out of reach as well, is a failed layer,
// like "pidns"; else it ends the start.
Result<> PutLidsOn(const plan::Plan& plan, const OpContext& context, Evidence* evidence) {
  if (!IsUp(Wall::kUserLimit)) {
    evidence->lids_error = "left out";
    return {};
  }
  bool own_proc = context.proc.valid();
  Result<> closed = CloseLids(evidence->proc_fd, plan.limits, own_proc ? context.proc_target : "");
  if (!closed && own_proc) return closed;
  if (!closed) evidence->lids_error = closed.error().message;
  return {};
}

// What each job will put on, made once from the new tree.
Result<> PrepareWalls(const plan::Plan& plan, Built* built, std::string* stage) {
  *stage = "landlock";
  built->file_ruleset = BAWN_TRY(contain::BuildFileRuleset(plan.landlock, plan.level));
  if (plan.job_domains) built->scope_ruleset = BAWN_TRY(contain::BuildScopeRuleset());
  *stage = "seccomp";
  built->filter = BAWN_TRY(contain::SeccompProgram(plan.syscall_profiles, plan.level));
  return {};
}

}  // namespace

Result<Built> Build(const plan::Plan& plan, std::vector<UniqueFd> slots, std::string* stage) {
  *stage = "level";
  if (plan.level != plan::Level::kIsolated && plan.level != plan::Level::kBounded) {
    return Fail(ErrorCode::kInvalidArgument, "pid 1 builds the levels isolated and bounded, not " +
                                                 std::string(plan::LevelName(plan.level)));
  }
  *stage = "private";
  BAWN_CHECK_OK(sys::MakeTreePrivate());
  *stage = "root";
  // For pid 1's own maps and lids where no proc of its own can be mounted (RT-36: already a failed
  // layer); closed before any payload exists.
  UniqueFd outer_proc = BAWN_TRY(sys::Openat2(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY));
  OpContext context;
  context.slots = &slots;
  BAWN_CHECK_OK(PrepareNetworkAndName(plan, stage));
  std::string last_attached = BAWN_TRY(EnterView(plan, &context, stage));

  Built built;
  Evidence evidence;
  evidence.proc_fd = context.proc.valid() ? context.proc.get() : outer_proc.get();
  evidence.proc_error = context.proc_error;
  if (!context.proc.valid() && evidence.proc_error.empty()) evidence.proc_error = "not in the plan";
  *stage = "userns";
  built.oom_score_adj = BAWN_TRY(EnterLockedNamespaces(evidence.proc_fd, plan));
  if (IsUp(Wall::kSecondUserns)) {  // else the attempts would succeed
    evidence.umount_errno = sys::TryUmount(last_attached);
    evidence.writable_errno = sys::TryMakeWritable("/");
  }
  *stage = "lids";
  BAWN_CHECK_OK(PutLidsOn(plan, context, &evidence));
  BAWN_CHECK_OK(PrepareWalls(plan, &built, stage));
  *stage = "privileges";
  BAWN_CHECK_OK(DropPrivileges());
  *stage = "read-back";
  built.layers = ReadBack(plan, evidence);
  for (wire::LayerFact& fact : context.left_out) built.layers.push_back(std::move(fact));
  built.devpts = std::move(context.devpts);
  return built;
}

}  // namespace bawn::init
