#include "init/init.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "contain/canary.h"
#include "contain/plan_codec.h"
#include "init/build.h"
#include "init/plain.h"
#include "init/serve.h"
#include "init/wall_switch.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/sealed.h"
#include "sys/signals.h"
#include "sys/sockets.h"

namespace bawn::init {
namespace {

int ParseInt(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

constexpr int kSetupFailedExit = 125;

[[noreturn]] void Refuse(const std::string& stage, const Error& error) {
  wire::FromInit frame =
      wire::SetupFailed{stage, static_cast<uint32_t>(error.sys_errno), error.message};
  (void)sys::SendPacket(kControlFd, wire::Encode(frame));  // the exit says it too
  _exit(kSetupFailedExit);
}

// The engine may start this program while the Plan is still being made.
Result<plan::Plan> ReadPlan() {
  UniqueFd file(kPlanFd);
  sys::Packet packet = BAWN_TRY(sys::ReceivePacket(kControlFd, wire::kControlFrameBytesMax, true));
  if (packet.eof) _exit(kSetupFailedExit);  // nobody is there any more (RT-22)
  wire::ToInit order = BAWN_TRY(wire::DecodeToInit(packet.bytes));
  if (!std::holds_alternative<wire::Proceed>(order)) {
    return Fail(ErrorCode::kInternal, "no Proceed from the engine");
  }
  std::string bytes = BAWN_TRY(sys::ReadWhole(file.get(), wire::kPlanBytesMax));
  return contain::DecodePlan(bytes);
}

// The engine closed everything else before exec: what is open from kFirstSlotFd on is a slot.
std::vector<UniqueFd> TakeSlots() {
  std::vector<UniqueFd> slots;
  for (int fd = kFirstSlotFd; fcntl(fd, F_GETFD) >= 0; ++fd) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    slots.emplace_back(fd);
  }
  return slots;
}

// Closes all descriptors but `kept`, then asks the proc of the view what is open.
Result<> CheckDescriptors(const std::vector<int>& kept) {
  CloseAllBut(kept);
  std::vector<int> seen;
  {
    Result<UniqueFd> directory = sys::OpenDir(AT_FDCWD, "/proc/self/fd");
    if (!directory) return {};  // no proc: the layer "pidns" says so
    for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(directory->get(), 64))) {
      seen.push_back(ParseInt(entry.name));
    }
  }
  for (int fd : seen) {  // the listing's own descriptors are closed again
    bool expected = std::find(kept.begin(), kept.end(), fd) != kept.end();
    if (expected || fcntl(fd, F_GETFD) < 0) continue;
    return Fail(ErrorCode::kInternal, "descriptor " + std::to_string(fd) + " is open");
  }
  return {};
}

Result<> CheckDirectory() {
  std::array<char, 16> path = {};
  if (getcwd(path.data(), path.size()) == nullptr) return FailErrno(errno, "getcwd");
  if (std::string_view(path.data()) == "/") return {};
  return Fail(ErrorCode::kInternal, "working directory is not /");
}

}  // namespace

void InitMain() {
  ReadWallsDown();
  Result<> closed = sys::SetDumpable(false);
  if (!closed) Refuse("start", closed.error());
  sys::SetProcessName(contain::kInitName);
  fcntl(kControlFd, F_SETFD, FD_CLOEXEC);
  sys::ResetSignalActions();
  umask(0);
  Result<plan::Plan> plan = ReadPlan();
  if (!plan) Refuse("plan", plan.error());
  Result<UniqueFd> signals = sys::ChildSignalFd();
  if (!signals) Refuse("signals", signals.error());
  std::string stage;
  bool namespaces = plan->level >= plan::Level::kIsolated;
  Result<Built> built = namespaces ? Build(*plan, TakeSlots(), &stage) : BuildPlain(&*plan, &stage);
  if (!built) Refuse(stage, built.error());
  std::vector<int> kept = {0, 1, 2, kControlFd, signals->get(), built->oom_score_adj.get()};
  if (built->file_ruleset.valid()) kept.push_back(built->file_ruleset.get());
  if (built->scope_ruleset.valid()) kept.push_back(built->scope_ruleset.get());
  Result<> checked = CheckDescriptors(kept);
  if (!checked) Refuse("descriptors", checked.error());
  checked = CheckDirectory();
  if (!checked) Refuse("cwd", checked.error());

  Walls walls;
  walls.plan = &*plan;
  walls.control = kControlFd;
  walls.file_ruleset = built->file_ruleset.get();
  walls.scope_ruleset = built->scope_ruleset.get();
  walls.filter = built->filter;
  walls.devpts = built->devpts;
  if (!AnyDown()) walls.refusal = NotHeld(built->layers);
  Result<> said = sys::SendPacket(
      kControlFd, wire::Encode(wire::FromInit(wire::Ready{std::move(built->layers)})));
  if (!said) _exit(kSetupFailedExit);
  // What the view was built from is given back: an idle sandbox costs what its pid 1 keeps.
  plan->ops = std::vector<plan::Op>();
  malloc_trim(0);
  Serve(walls, std::move(*signals), std::move(built->oom_score_adj));
}

}  // namespace bawn::init
