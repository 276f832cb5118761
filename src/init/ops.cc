#include "init/ops.h"

#include <array>
#include <cstdio>

#include "base/text.h"
#include "sys/files.h"
#include "sys/mounts.h"

namespace bawn::init {
namespace {

using plan::Op;
using plan::OpKind;
using plan::Source;

constexpr uint64_t kQuiet = sys::kNoSuid | sys::kNoDev;
constexpr size_t kLeftOutMax = 16;  // a Ready frame holds 32 facts in all

struct Opened {
  UniqueFd fd;
  bool directory = false;
};

// Opens a source in the sandbox's own mount namespace: only mounts that it holds can be cloned, and
// no symlink is followed on the way.
Result<Opened> OpenSource(const Source& source, OpContext* context) {
  Opened opened;
  if (source.fd_slot >= 0) {
    auto slot = static_cast<size_t>(source.fd_slot);
    if (slot >= context->slots->size() || !(*context->slots)[slot].valid()) {
      return Fail(ErrorCode::kInvalidArgument, "source names descriptor " + std::to_string(slot) +
                                                   ", which was not handed over");
    }
    opened.fd = BAWN_TRY(sys::Dup((*context->slots)[slot].get()));
  } else {
    opened.fd = BAWN_TRY(sys::Openat2(AT_FDCWD, source.path, O_PATH, 0, sys::kNoSymlinks));
  }
  sys::FileStat stat = BAWN_TRY(sys::Fstat(opened.fd.get()));
  opened.directory = stat.IsDir();
  if (source.ino != 0 && (stat.dev != source.dev || stat.ino != source.ino)) {
    return Fail(ErrorCode::kConflict,
                "the tree was swapped: " + EscapeName(source.path) + " is not what was opened",
                "run the command again");
  }
  return opened;
}

std::string Octal(uint32_t mode) {
  std::array<char, 16> text = {};
  std::snprintf(text.data(), text.size(), "%o", mode);
  return text.data();
}

Result<UniqueFd> MountTmpfs(uint64_t size_bytes, uint64_t inodes, uint32_t mode) {
  sys::FsBuilder tmpfs = BAWN_TRY(sys::FsBuilder::Open("tmpfs"));
  if (size_bytes != 0) BAWN_CHECK_OK(tmpfs.SetString("size", std::to_string(size_bytes)));
  if (inodes != 0) BAWN_CHECK_OK(tmpfs.SetString("nr_inodes", std::to_string(inodes)));
  BAWN_CHECK_OK(tmpfs.SetString("mode", Octal(mode)));
  return tmpfs.Mount(kQuiet);
}

Result<> Bind(const Op& op, OpContext* context) {
  const Source& source = op.lowers[0];
  Opened opened = BAWN_TRY(OpenSource(source, context));
  uint64_t attributes = sys::kNoSuid | (op.devices ? 0 : sys::kNoDev);
  if (op.read_only) attributes |= sys::kReadOnly;
  // A descriptor handed over is a detached mount already (its id map stays); a path is cloned.
  UniqueFd mount = source.fd_slot >= 0
                       ? std::move(opened.fd)
                       : BAWN_TRY(sys::CloneTree(opened.fd.get(), "", op.recursive));
  BAWN_CHECK_OK(sys::SetMountAttributes(mount.get(), attributes, op.recursive));
  return context->tree->Attach(mount.get(), op.target, opened.directory);
}

Result<UniqueFd> OpenLayer(const Source& source, OpContext* context) {
  Opened opened = BAWN_TRY(OpenSource(source, context));
  if (!opened.directory) return Fail(ErrorCode::kInvalidArgument, "a layer that is no directory");
  if (source.fd_slot >= 0 && context->hidden_slots.insert(source.fd_slot).second) {
    BAWN_CHECK_OK(context->tree->AttachHidden(opened.fd.get()));
  }
  return std::move(opened.fd);
}

// The changes of an ephemeral run: nothing outside could read them, and they end with the mounts.
Result<> AddMemoryLayers(const Op& op, OpContext* context, sys::FsBuilder* overlay) {
  UniqueFd memory = BAWN_TRY(MountTmpfs(op.size_bytes, op.inodes, 0700));
  BAWN_CHECK_OK(context->tree->AttachHidden(memory.get()));
  BAWN_CHECK_OK(sys::Mkdirat(memory.get(), "upper", op.mode));
  BAWN_CHECK_OK(sys::Mkdirat(memory.get(), "work", 0700));
  if (!op.content.empty()) {
    std::string hidden = "upper/" + op.content;
    BAWN_CHECK_OK(sys::Mkdirat(memory.get(), hidden, 0755));
    UniqueFd directory = BAWN_TRY(sys::OpenDir(memory.get(), hidden, sys::kUntrusted));
    BAWN_CHECK_OK(sys::MakeOpaque(directory.get()));
  }
  constexpr int kDirectory = O_PATH | O_DIRECTORY;
  UniqueFd upper = BAWN_TRY(sys::Openat2(memory.get(), "upper", kDirectory, 0, sys::kUntrusted));
  UniqueFd work = BAWN_TRY(sys::Openat2(memory.get(), "work", kDirectory, 0, sys::kUntrusted));
  BAWN_CHECK_OK(overlay->SetFd("upperdir", upper.get()));
  BAWN_CHECK_OK(overlay->SetFd("workdir", work.get()));
  // The layers are of two file systems: one number range for both, so that a file keeps its number
  // when it is first written (overlayfs.rst, "Inode properties").
  return overlay->SetString("xino", "on");
}

Result<> Overlay(const Op& op, OpContext* context) {
  bool in_memory = op.size_bytes != 0;
  bool writable = in_memory || !op.upper.path.empty() || op.upper.fd_slot >= 0;
  sys::FsBuilder overlay = BAWN_TRY(sys::FsBuilder::Open("overlay"));
  BAWN_CHECK_OK(overlay.SetFlag("userxattr"));
  for (const Source& source : op.lowers) {
    UniqueFd lower = BAWN_TRY(OpenLayer(source, context));
    BAWN_CHECK_OK(overlay.SetFd("lowerdir+", lower.get()));
  }
  if (in_memory) {
    BAWN_CHECK_OK(AddMemoryLayers(op, context, &overlay));
  } else if (writable) {
    UniqueFd upper = BAWN_TRY(OpenLayer(op.upper, context));
    UniqueFd work;
    if (op.upper.fd_slot >= 0 && op.work.fd_slot < 0) {  // one mount that holds both
      work = BAWN_TRY(sys::Openat2(upper.get(), "work", O_PATH | O_DIRECTORY, 0, sys::kUntrusted));
      upper =
          BAWN_TRY(sys::Openat2(upper.get(), "upper", O_PATH | O_DIRECTORY, 0, sys::kUntrusted));
    } else {
      work = BAWN_TRY(OpenLayer(op.work, context));
    }
    BAWN_CHECK_OK(overlay.SetFd("upperdir", upper.get()));
    BAWN_CHECK_OK(overlay.SetFd("workdir", work.get()));
    BAWN_CHECK_OK(overlay.SetFlag("volatile"));
  } else if (op.lowers.size() == 1) {
    BAWN_CHECK_OK(overlay.SetFd("lowerdir+", context->tree->empty()));
  }
  UniqueFd mount = BAWN_TRY(overlay.Mount(kQuiet | (writable ? 0 : sys::kReadOnly)));
  return context->tree->Attach(mount.get(), op.target, true);
}

Result<> Tmpfs(const Op& op, OpContext* context) {
  UniqueFd mount = BAWN_TRY(MountTmpfs(op.size_bytes, op.inodes, op.mode));
  return context->tree->Attach(mount.get(), op.target, true);
}

Result<> Proc(const Op& op, OpContext* context) {
  auto mount = [&]() -> Result<> {
    sys::FsBuilder proc = BAWN_TRY(sys::FsBuilder::Open("proc"));
    context->proc = BAWN_TRY(proc.Mount(kQuiet | sys::kNoExec));
    return context->tree->Attach(context->proc.get(), op.target, true);
  }();
  context->proc_target = op.target;
  if (mount) return {};
  // Never the outer /proc instead: that would show the host's processes. The layer says it.
  context->proc.Reset();
  context->proc_error = mount.error().message;
  return context->tree->MakeDir(op.target, 0555);
}

Result<> Devpts(const Op& op, OpContext* context) {
  sys::FsBuilder devpts = BAWN_TRY(sys::FsBuilder::Open("devpts"));
  BAWN_CHECK_OK(devpts.SetString("ptmxmode", "666"));
  BAWN_CHECK_OK(devpts.SetString("mode", "620"));
  UniqueFd mount = BAWN_TRY(devpts.Mount(sys::kNoSuid | sys::kNoExec));
  context->devpts = op.target;
  return context->tree->Attach(mount.get(), op.target, true);
}

Result<> Mqueue(const Op& op, OpContext* context) {
  sys::FsBuilder mqueue = BAWN_TRY(sys::FsBuilder::Open("mqueue"));
  UniqueFd mount = BAWN_TRY(mqueue.Mount(kQuiet | sys::kNoExec));
  return context->tree->Attach(mount.get(), op.target, true);
}

Result<> Dispatch(const Op& op, OpContext* context) {
  switch (op.kind) {
    case OpKind::kDir:
      return context->tree->MakeDir(op.target, op.mode);
    case OpKind::kSymlink:
      return context->tree->MakeSymlink(op.target, op.content);
    case OpKind::kFile:
      return context->tree->MakeFile(op.target, op.content, op.mode, op.mtime_ns);
    case OpKind::kTmpfs:
      return Tmpfs(op, context);
    case OpKind::kBind:
      return Bind(op, context);
    case OpKind::kOverlay:
      return Overlay(op, context);
    case OpKind::kProc:
      return Proc(op, context);
    case OpKind::kDevpts:
      return Devpts(op, context);
    case OpKind::kMqueue:
      return Mqueue(op, context);
  }
  return Fail(ErrorCode::kInternal, "an op of no kind");
}

}  // namespace

Result<> CarryOut(const plan::Op& op, OpContext* context) {
  Result<> done = Dispatch(op, context);
  if (done || !op.optional) return done;
  if (context->left_out.size() < kLeftOutMax) {
    context->left_out.push_back(
        {"mount " + EscapeName(op.target), wire::LayerState::kOff, done.error().message});
  }
  return {};
}

}  // namespace bawn::init
