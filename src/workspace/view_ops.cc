#include "workspace/view_ops.h"

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/files.h"
#include "workspace/paths.h"

namespace bawn::workspace {
namespace {

plan::Source SourceAt(std::string path) {
  plan::Source source;
  source.path = std::move(path);
  return source;
}

// A directory of ours over one of the user's (or instead of it, when it was copied).
plan::Op LayerOp(const std::string& target, const std::string& upper, const std::string& work,
                 std::vector<plan::Source> lowers, bool overlay) {
  plan::Op op;
  op.target = target;
  op.read_only = false;
  if (!overlay) {
    op.kind = plan::OpKind::kBind;
    op.lowers = {SourceAt(upper)};
    return op;
  }
  op.kind = plan::OpKind::kOverlay;
  op.lowers = std::move(lowers);
  op.upper = SourceAt(upper);
  op.work = SourceAt(work);
  return op;
}

Result<> MakeEmptyFile(const SandboxDir& dir) {
  BAWN_CHECK_OK(sys::MakeDirs(dir.fd.get(), "git", 0700));
  Result<> made = WriteNew(dir.fd.get(), "git/empty", "");
  return !made && made.error().sys_errno == EEXIST ? Result<>() : made;
}

// The host's objects, read-only, never an overlay lower: new packs must appear coherently (RT-18).
// Their own alternates name host paths; git inside has the whole chain and must not follow them.
Result<> AddObjects(const SandboxDir& dir, const SandboxMeta& meta, plan::WorkspaceFacts* facts) {
  for (size_t i = 0; i < meta.object_dirs.size(); ++i) {
    UniqueFd fd = BAWN_TRY(sys::Openat2(AT_FDCWD, meta.object_dirs[i], O_PATH | O_DIRECTORY));
    sys::FileStat st = BAWN_TRY(sys::Fstat(fd.get()));
    plan::Op bind;
    bind.kind = plan::OpKind::kBind;
    bind.target = "/.bawn/objects/" + std::to_string(i);
    bind.lowers = {SourceAt(meta.object_dirs[i])};
    bind.lowers[0].dev = st.dev;
    bind.lowers[0].ino = st.ino;
    facts->readable.push_back(bind.target);
    plan::Op cover;
    cover.kind = plan::OpKind::kBind;
    cover.target = bind.target + "/info/alternates";
    cover.lowers = {SourceAt(dir.path + "/git/empty")};
    facts->ops.push_back(std::move(bind));
    if (!sys::Fstatat(fd.get(), "info/alternates")) continue;
    BAWN_CHECK_OK(MakeEmptyFile(dir));
    facts->ops.push_back(std::move(cover));
  }
  return {};
}

}  // namespace

Result<plan::WorkspaceFacts> ViewOf(const SandboxDir& dir, const SandboxMeta& meta) {
  plan::WorkspaceFacts facts;
  facts.path = meta.workspace_path;
  facts.mode = meta.mode;
  facts.rung = meta.rung;
  bool overlay = meta.rung == "overlay";
  plan::Source tree = SourceAt(meta.workspace_path);
  tree.dev = meta.workspace_dev;
  tree.ino = meta.workspace_ino;
  std::string layer = dir.path + "/layers/0/", git = dir.path + "/git/";
  plan::Op work_tree = LayerOp(meta.workspace_path, layer + "upper", layer + "work",
                               {SourceAt(dir.path + "/initial"), tree}, overlay);
  facts.writable.push_back(meta.workspace_path);
  if (meta.git_target.empty()) {
    facts.ops.push_back(std::move(work_tree));
  } else {
    plan::Op git_dir =
        LayerOp(meta.git_target, git + "upper", git + "work", {SourceAt(git + "base")}, overlay);
    facts.writable.push_back(meta.git_target);
    // Parents first: a later mount hides what was mounted below its target.
    bool git_first = IsAtOrBelow(meta.workspace_path, meta.git_target);
    if (git_first) std::swap(work_tree, git_dir);
    facts.ops.push_back(std::move(work_tree));
    facts.ops.push_back(std::move(git_dir));
  }
  BAWN_CHECK_OK(AddObjects(dir, meta, &facts));
  return facts;
}

plan::WorkspaceFacts PrivateViewOf(const SandboxDir& dir, const SandboxMeta& meta) {
  plan::WorkspaceFacts facts;
  facts.path = dir.path + "/layers/0/upper";
  facts.mode = meta.mode;
  facts.rung = meta.rung;
  facts.writable = {facts.path};
  facts.readable = meta.object_dirs;
  return facts;
}

}  // namespace bawn::workspace
