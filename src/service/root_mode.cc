#include "service/root_mode.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "contain/idmap.h"
#include "launch/id_ranges.h"
#include "sys/files.h"
#include "sys/mounts.h"
#include "workspace/ladder.h"
#include "workspace/repository.h"

namespace bawn::service {
namespace {

constexpr size_t kMountinfoMax = 64 << 20;

bool IsBelow(const std::string& path, const std::string& root) {
  return !root.empty() && path.starts_with(root) &&
         (path.size() == root.size() || path[root.size()] == '/');
}

// The leased ids cannot walk to these by themselves, or would find them owned by somebody else.
bool IsPrivate(const plan::Op& op, const plan::Source& source, const Session& session) {
  if (source.path.empty() || source.fd_slot >= 0) return false;
  if (op.kind == plan::OpKind::kOverlay || op.target.starts_with("/.bawn/")) return true;
  return IsBelow(source.path, session.caller.home) || IsBelow(source.path, session.state.path) ||
         IsBelow(source.path, session.opened.meta.workspace_path);
}

// From now on the source is a descriptor, and the Plan no longer names a path for it.
void Replace(plan::Source* source, UniqueFd fd, Session* session) {
  session->slots.push_back(std::move(fd));
  *source = plan::Source{};
  source->fd_slot = static_cast<int32_t>(session->slots.size() - 1);
}

// Upper and work must lie on one mount (overlayfs): a detached clone of the directory that holds
// both goes over as one slot. They belong to the leased ids on disk, never to root: a set-user-id
// file that a payload leaves there is nobody's (RT-25).
Result<> HandOverUpper(plan::Op* op, const launch::IdLease& lease, Session* session) {
  std::string parent = op->upper.path.substr(0, op->upper.path.rfind('/'));
  if (op->upper.path != parent + "/upper" || op->work.path != parent + "/work") {
    return Fail(ErrorCode::kInternal, "an overlay whose upper and work are not side by side");
  }
  UniqueFd tree = BAWN_TRY(sys::CloneTree(AT_FDCWD, parent, false));
  for (const char* name : {"", "upper", "work"}) {
    std::string place = name[0] == '\0' ? parent : parent + "/" + name;
    UniqueFd directory = BAWN_TRY(sys::OpenDir(AT_FDCWD, place, sys::kNoSymlinks));
    BAWN_CHECK_OK(sys::Fchown(directory.get(), lease.outer_uid, lease.outer_gid));
  }
  op->work = plan::Source{};
  Replace(&op->upper, std::move(tree), session);
  return {};
}

bool WritesToHost(const plan::Op& op, const Session& session) {
  const std::vector<std::string>& direct = session.compiled.direct_writes;
  return op.kind == plan::OpKind::kBind && std::ranges::find(direct, op.target) != direct.end();
}

// The map is of one mount: what is mounted below would be missing without a word (RT-17).
Result<> RefuseSubmounts(const std::string& path) {
  std::string mounts = BAWN_TRY(sys::ReadFileAt(AT_FDCWD, "/proc/self/mountinfo", kMountinfoMax));
  std::vector<workspace::Submount> below = workspace::SubmountsBelow(mounts, path);
  if (below.empty()) return {};
  return Fail(ErrorCode::kFailedPrecondition,
              "--rw " + EscapeName(path) + ": a file system is mounted on " +
                  EscapeName(below.front().path) + ", which root mode would leave out",
              "unmount it, or name directories without it", "root.rw_submount");
}

// What --rw names: its owner is the sandbox's own user inside, and what a job makes there is the
// owner's outside. A leased id on a file outside Bawn's state would be the next sandbox's (RT-30).
Result<> HandOverDirect(plan::Source* source, const launch::IdLease& lease, Session* session) {
  UniqueFd fd = BAWN_TRY(sys::Openat2(AT_FDCWD, source->path, O_PATH, 0, sys::kNoSymlinks));
  sys::FileStat st = BAWN_TRY(sys::Fstat(fd.get()));
  if (source->ino != 0 && (st.ino != source->ino || st.dev != source->dev)) {
    return Fail(ErrorCode::kConflict, "--rw " + EscapeName(source->path) + " was replaced just now",
                "repeat the command");
  }
  BAWN_CHECK_OK(RefuseSubmounts(source->path));
  Result<UniqueFd> tree =
      contain::IdmappedTreeOf(fd.get(), st.uid, st.gid, lease.outer_uid, lease.outer_gid);
  if (!tree) {
    return Fail(ErrorCode::kFailedPrecondition,
                "--rw " + EscapeName(source->path) + ": " + tree.error().message +
                    "; what a job writes there would belong to an id of Bawn's",
                "name a directory on ext4, xfs, btrfs or tmpfs", "root.rw_idmap");
  }
  Replace(source, std::move(*tree), session);
  return {};
}

Result<> HandOver(plan::Op* op, const launch::IdLease& lease, Session* session) {
  if (WritesToHost(*op, *session)) return HandOverDirect(op->lowers.data(), lease, session);
  for (plan::Source& source : op->lowers) {
    if (!IsPrivate(*op, source, *session)) continue;
    UniqueFd tree =
        BAWN_TRY(contain::IdmappedTree(source.path, 0, 0, lease.outer_uid, lease.outer_gid));
    Replace(&source, std::move(tree), session);
  }
  if (op->upper.path.starts_with('/')) BAWN_CHECK_OK(HandOverUpper(op, lease, session));
  return {};
}

// A kept sandbox has its lease already: what it wrote belongs to these ids.
Result<launch::IdLease> LeaseFor(launch::IdRanges& ranges, const std::string& id) {
  for (const launch::IdLease& lease : BAWN_TRY(ranges.List())) {
    if (lease.sandbox_id == id) return lease;
  }
  return ranges.Lease(id);
}

}  // namespace

contain::SubIdFiles SubIdFilesOf(const Caller& caller) {
  contain::SubIdFiles files;
  std::string directory = caller.Env("BAWN_SUBID_DIR");
  if (directory.empty()) return files;
  files.subuid = directory + "/subuid";
  files.subgid = directory + "/subgid";
  return files;
}

bool IsRootMode(const Caller& caller) { return caller.ids.uid == 0; }

Result<> CheckRootTree(const std::string& path) {
  sys::FileStat st = BAWN_TRY(sys::Fstatat(AT_FDCWD, path));
  if (st.uid == 0) return {};
  return workspace::RefuseForeignTree(path, st.uid);
}

Result<> EnterRootMode(Session* session) {
  launch::IdRanges ranges =
      BAWN_TRY(launch::IdRanges::Open(session->state, SubIdFilesOf(session->caller)));
  // Leases of sandboxes that are gone and left nothing come back first.
  BAWN_CHECK_OK(ranges.ReleaseAbandoned([&](const std::string& id) {
    Result<sys::FileStat> layers = sys::Fstatat(session->state.fd.get(), "sb/" + id + "/layers");
    return layers || layers.error().sys_errno != ENOENT;  // in doubt they are there
  }));
  launch::IdLease lease = BAWN_TRY(LeaseFor(ranges, session->dir.id));
  session->ids = contain::ProvisionRequest::IdRange{lease.outer_uid, lease.outer_gid, 1};
  plan::Plan& plan = session->compiled.plan;
  plan.ids_from_range = true;
  plan.uid = plan.gid = kInnerId;
  for (plan::Op& op : plan.ops) BAWN_CHECK_OK(HandOver(&op, lease, session));
  return {};
}

Result<> LeaveRootMode(const Session& session) {
  if (!session.ids || session.opened.meta.kept) return {};
  launch::IdRanges ranges =
      BAWN_TRY(launch::IdRanges::Open(session.state, SubIdFilesOf(session.caller)));
  return ranges.Release(session.dir.id);
}

}  // namespace bawn::service
