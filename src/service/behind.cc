#include "service/behind.h"

#include <unistd.h>

#include "sys/processes.h"
#include "workspace/marker.h"
#include "workspace/remove.h"

namespace bawn::service {
namespace {

[[noreturn]] void Work(const std::vector<int>& fds, const std::function<Result<>()>& work) {
  setsid();
  for (size_t i = 0; i < fds.size(); ++i) {
    if (dup2(fds[i], static_cast<int>(i)) < 0) _exit(1);
  }
  if (!sys::CloseFrom(static_cast<unsigned>(fds.size()))) _exit(1);
  alarm(kBehindSeconds);
  _exit(work() ? 0 : 1);
}

Result<> Remove(const workspace::StateDir& state, const workspace::SandboxDir& dir) {
  BAWN_CHECK_OK(workspace::RemoveEnded(dir));
  return workspace::Unmark(state, dir.id);
}

}  // namespace

Result<> LeaveBehind(const std::vector<int>& fds, const std::function<Result<>()>& work) {
  for (int fd : fds) BAWN_ASSERT(fd >= 3 && fds.size() <= 3);
  // Twice, so that the one who works is nobody's child: `bawn` does not wait for it.
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) {
    Result<sys::Child> behind = sys::Clone3(0);
    if (!behind || behind->pid != 0) _exit(behind ? 0 : 1);
    Work(fds, work);
  }
  bool ended = false;
  sys::Exit exit = BAWN_TRY(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  if (exit.status != 0) return Fail(ErrorCode::kInternal, "no process could be left behind");
  return {};
}

Result<> RemoveBehind(const workspace::StateDir& state, const std::string& id) {
  std::optional<UniqueFd> marker = BAWN_TRY(workspace::TakeMarker(state, id));
  if (!marker) return {};  // another command does it, or has done it
  workspace::SandboxDir dir = BAWN_TRY(workspace::OpenSandboxDir(state, id, false));
  Result<> left = LeaveBehind({dir.fd.get(), state.fd.get(), marker->get()}, [&id] {
    workspace::SandboxDir own;
    own.id = id;
    own.fd.Reset(0);
    workspace::StateDir own_state;
    own_state.fd.Reset(1);
    return Remove(own_state, own);
  });
  return left ? Result<>() : Remove(state, dir);
}

}  // namespace bawn::service
