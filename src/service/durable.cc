#include "service/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/files.h"
#include "sys/processes.h"
#include "workspace/state.h"

namespace bawn::service {
namespace {

constexpr const char* kPending = "durable.pending";

// The process that stays behind: only the sandbox's directory is open in it.
[[noreturn]] void WriteBack(int sandbox_fd) {
  alarm(kWriteBackSeconds);
  Result<UniqueFd> layer = sys::OpenDir(sandbox_fd, "layers/0", sys::kUntrusted);
  if (!layer || !sys::Syncfs(layer->get())) _exit(1);
  // overlay.rst, "Volatile mount": the marker forbids mounting the layers again. It holds a file
  // and lies in a directory of mode 000, so the work directory's own content goes as a whole.
  Result<UniqueFd> work = sys::OpenDir(layer->get(), "work", sys::kUntrusted);
  if (!work || !workspace::RemoveTree(work->get(), "work")) _exit(1);
  _exit(sys::Unlinkat(sandbox_fd, kPending) ? 0 : 1);
}

}  // namespace

Result<> StartWriteBack(const workspace::SandboxDir& dir) {
  BAWN_CHECK_OK(sys::Openat2(dir.fd.get(), kPending, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  // Twice, so that the one who works is nobody's child: `bawn` does not wait for it.
  sys::Child child = BAWN_TRY(sys::Clone3(0));
  if (child.pid == 0) {
    Result<sys::Child> worker = sys::Clone3(0);
    if (!worker || worker->pid != 0) _exit(worker ? 0 : 1);
    setsid();
    if (dup2(dir.fd.get(), 0) < 0 || !sys::CloseFrom(1)) _exit(1);
    WriteBack(0);
  }
  bool ended = false;
  sys::Exit exit = BAWN_TRY(sys::WaitPidfd(child.pidfd.get(), true, &ended));
  if (exit.status != 0) return Fail(ErrorCode::kInternal, "the write-back process did not start");
  return {};
}

const char* DurableState(const workspace::SandboxDir& dir) {
  return sys::Fstatat(dir.fd.get(), kPending) ? "pending" : "synced";
}

}  // namespace bawn::service
