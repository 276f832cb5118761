#include "init/guard.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/clock.h"
#include "contain/landlock.h"
#include "init/watch.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::init {
namespace {

constexpr int64_t kKillDeadlineNs = 1'000'000'000;
constexpr int kGuardFailed = 125;

// How many children are alive: at least one when this is asked; their own children are not counted.
uint32_t CountChildren() {
  std::string pid = std::to_string(getpid());
  Result<std::string> children =
      sys::ReadFileAt(AT_FDCWD, "/proc/self/task/" + pid + "/children", 1 << 20);
  uint32_t count = 0;
  if (children) {
    for (char c : *children) count += c == ' ' ? 1 : 0;
  }
  return std::max(count, 1U);
}

class Guard {
 public:
  Guard(UniqueFd channel, UniqueFd signals, uint32_t job)
      : channel_(std::move(channel)), signals_(std::move(signals)), job_(job) {}

  [[noreturn]] void Run(Watch main);

 private:
  void Send(const wire::FromInit& frame, int fd) {
    std::vector<int> fds;
    if (fd >= 0) fds.push_back(fd);
    if (!sys::SendPacket(channel_.get(), wire::Encode(frame), fds)) Abandon();
  }
  // Pid 1 is gone or out of its mind. In a pid namespace everything here ends with it; elsewhere
  // (`restricted`) nobody else can end this job any more.
  [[noreturn]] void Abandon() {
    int64_t deadline = MonotonicNs() + kKillDeadlineNs;
    do {
      (void)sys::Kill(-1, SIGKILL);
      while (sys::ReapAnyChild().pid > 0) {
      }
    } while (sys::ReapAnyChild().pid == 0 && MonotonicNs() < deadline);
    _exit(kGuardFailed);
  }
  bool Reap(Watch* main);  // true: no child is left
  void OnOrder(Watch* main);
  bool KillDomain(Watch* main);

  UniqueFd channel_;
  UniqueFd signals_;
  uint32_t job_;
};

bool Guard::Reap(Watch* main) {
  sys::DrainSignalFd(signals_.get());
  std::optional<sys::Reaped> ended;
  while (true) {
    sys::Reaped reaped = sys::ReapAnyChild();
    if (reaped.pid > 0) {
      if (reaped.pid == main->pid()) ended = reaped;
      continue;
    }
    bool none_left = reaped.pid < 0;
    if (ended) {
      main->OnExit(*ended, none_left ? 0 : CountChildren(),
                   [this](const wire::FromInit& frame, int fd) { Send(frame, fd); });
    }
    return none_left;
  }
}

bool Guard::KillDomain(Watch* main) {
  int64_t deadline = MonotonicNs() + kKillDeadlineNs;
  while (true) {
    (void)sys::Kill(-1, SIGKILL);  // ESRCH: nobody left to kill
    if (Reap(main)) return true;
    if (MonotonicNs() > deadline) return false;
    pollfd child = {signals_.get(), POLLIN, 0};
    (void)poll(&child, 1, 20);
  }
}

void Guard::OnOrder(Watch* main) {
  Result<sys::Packet> packet =
      sys::ReceivePacket(channel_.get(), wire::kControlFrameBytesMax, true);
  if (!packet || packet->eof) Abandon();
  Result<wire::ToInit> order = wire::DecodeToInit(packet->bytes);
  if (!order) Abandon();
  if (const auto* signal = std::get_if<wire::SignalJob>(&*order)) {
    if (main->running()) main->Signal(static_cast<int>(signal->signal));
  } else if (std::holds_alternative<wire::KillJob>(*order)) {
    bool gone = KillDomain(main);
    Send(wire::JobKilled{job_, gone}, -1);
    if (gone) _exit(0);
  }
}

void Guard::Run(Watch main) {
  Post post = [this](const wire::FromInit& frame, int fd) { Send(frame, fd); };
  while (true) {
    std::array<pollfd, 3> wait = {
        {{channel_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {main.channel(), POLLIN, 0}}};
    if (poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) Abandon();
    if (wait[2].revents != 0) main.OnChannel(post);
    if (wait[1].revents != 0 && Reap(&main)) _exit(0);
    if (wait[0].revents != 0) OnOrder(&main);
  }
}

Result<Watch> StartUnderGuard(const Walls& walls, const JobStart& start, UniqueFd* signals) {
  BAWN_CHECK_OK(sys::BecomeSubreaper());
  if (int error = contain::EnterRuleset(walls.scope_ruleset); error != 0) {
    return FailErrno(error, "landlock_restrict_self(guard)");
  }
  *signals = BAWN_TRY(sys::ChildSignalFd());
  return Watch::Fork(walls, start);
}

}  // namespace

void RunGuard(const Walls& walls, JobStart start, UniqueFd channel) {
  close(walls.control);
  Walls without_control = walls;
  without_control.control = -1;  // the number is free for others now
  UniqueFd signals;
  Result<Watch> main = StartUnderGuard(without_control, start, &signals);
  if (!main) {
    wire::FromInit frame = wire::JobFailed{
        start.job, "guard", static_cast<uint32_t>(main.error().sys_errno), main.error().message};
    bool said = sys::SendPacket(channel.get(), wire::Encode(frame)).has_value();
    _exit(said ? 0 : kGuardFailed);
  }
  uint32_t job = start.job;
  for (UniqueFd& fd : start.fds) (void)fd.Release();  // closed by number, with everything else
  CloseAllBut({channel.get(), signals.get(), main->channel()});
  Guard(std::move(channel), std::move(signals), job).Run(std::move(*main));
}

}  // namespace bawn::init
