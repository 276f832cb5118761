#include "contain/engines/start_init.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sys/capabilities.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/mounts.h"
#include "sys/processes.h"
#include "sys/sockets.h"
#include "wire/control.h"

namespace bawn::contain {
namespace {

constexpr int kStartFailedExit = 125;
constexpr int kControlTarget = 3;  // init/init.h

Result<> BecomeInner(const InitStart& start) {
  if (!start.namespaces) return {};
  if (!start.maps_by_parent) {
    UniqueFd proc = BAWN_TRY(sys::Openat2(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY));
    return sys::WriteOwnIdentityMap(proc.get(), start.uid, start.gid);
  }
  sys::Packet packet =
      BAWN_TRY(sys::ReceivePacket(start.control, wire::kControlFrameBytesMax, true));
  Result<wire::ToInit> order = wire::DecodeToInit(packet.bytes);
  if (!order || !std::holds_alternative<wire::Proceed>(*order)) {
    return Fail(ErrorCode::kUnavailable, "no Proceed from the engine");
  }
  return sys::TakeIds(start.uid, start.gid);
}

// The program's file in this mount namespace, found while this process is still its starter: the
// inner ids may not be able to walk there.
Result<UniqueFd> FindProgram(const InitStart& start) {
  UniqueFd found = BAWN_TRY(sys::Openat2(AT_FDCWD, start.program_path, O_PATH));
  sys::FileStat there = BAWN_TRY(sys::Fstat(found.get()));
  sys::FileStat wanted = BAWN_TRY(sys::Fstat(start.program));
  if (there.dev != wanted.dev || there.ino != wanted.ino) {
    return Fail(ErrorCode::kConflict, start.program_path + " was replaced while bawn was starting",
                "run the command again");
  }
  return found;
}

// A read-only detached clone of it, made where only this sandbox's mounts are.
Result<UniqueFd> ReadOnlyProgram(const UniqueFd& found) {
  UniqueFd mount = BAWN_TRY(sys::CloneTree(found.get(), "", false));
  BAWN_CHECK_OK(
      sys::SetMountAttributes(mount.get(), sys::kReadOnly | sys::kNoSuid | sys::kNoDev, false));
  return mount;
}

// 0, 1, 2 = /dev/null, 3 = control, 4 = plan, 5 … = slots; the program's descriptor (returned)
// closes itself at exec. All are first moved above the targets: none is overwritten while it is
// needed.
Result<int> Arrange(const InitStart& start, int program) {
  int null = BAWN_TRY(sys::Openat2(AT_FDCWD, "/dev/null", O_RDWR)).Release();
  std::vector<int> wanted = {null, null, null, start.control, start.plan};
  wanted.insert(wanted.end(), start.slots.begin(), start.slots.end());
  int above = static_cast<int>(wanted.size());
  wanted.push_back(program);
  for (int& fd : wanted) {
    fd = fcntl(fd, F_DUPFD_CLOEXEC, above);
    if (fd < 0) return FailErrno(errno, "fcntl(F_DUPFD_CLOEXEC)");
  }
  for (int at = 0; at < above; ++at) {
    if (dup2(wanted[static_cast<size_t>(at)], at) < 0) return FailErrno(errno, "dup2");
  }
  auto first = static_cast<unsigned>(above), kept = static_cast<unsigned>(wanted.back());
  if (kept > first) close_range(first, kept - 1, 0);
  close_range(kept + 1, ~0U, 0);
  return wanted.back();
}

// First of all, so that what the build itself uses is counted and bounded as well.
Result<> EnterGroup(const InitStart& start) {
  if (start.group == nullptr) return {};
  BAWN_CHECK_OK(Cgroup::Enter(start.group->entrances()));
  std::string seen = BAWN_TRY(sys::ReadFileAt(AT_FDCWD, "/proc/self/cgroup", 1 << 16));
  if (start.group->Holds(seen, false)) return {};
  return Fail(ErrorCode::kInternal, "this process is not in its control groups");
}

}  // namespace

void StartInit(const InitStart& start) {
  close(start.other_end);
  int control = start.control;
  auto refuse = [&](const char* stage, const Error& error) {
    wire::FromInit frame =
        wire::SetupFailed{stage, static_cast<uint32_t>(error.sys_errno), error.message};
    (void)sys::SendPacket(control, wire::Encode(frame));  // the exit says it too
    _exit(kStartFailedExit);
  };
  Result<> entered = EnterGroup(start);
  if (!entered) refuse("cgroup", entered.error());
  Result<UniqueFd> found = FindProgram(start);
  if (!found) refuse("program", found.error());
  Result<> inner = BecomeInner(start);
  if (!inner) refuse("ids", inner.error());
  Result<UniqueFd> program =
      start.namespaces ? ReadOnlyProgram(*found) : Result<UniqueFd>(std::move(*found));
  if (!program) refuse("program", program.error());
  Result<> raised = start.namespaces ? sys::RaiseAmbientCapabilities() : Result<>();
  if (!raised) refuse("capabilities", raised.error());
  Result<int> arranged = Arrange(start, program->Release());
  if (!arranged) refuse("descriptors", arranged.error());
  control = kControlTarget;
  refuse("exec", sys::ExecFd(*arranged, {"bawn-init"}, {}));
  _exit(kStartFailedExit);
}

}  // namespace bawn::contain
