#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "launch/kept.h"
#include "sys/events.h"
#include "sys/sockets.h"
#include "wire/control.h"

namespace bawn::launch {
namespace {

std::string DoorOf(int sandbox_fd) {
  return "/proc/self/fd/" + std::to_string(sandbox_fd) + "/" + kKeeperSocket;
}

Result<sys::Packet> ReceiveWithin(int fd, int deadline_ms) {
  std::vector<pollfd> items = {{fd, POLLIN, 0}};
  int ready = BAWN_TRY(sys::Poll(&items, deadline_ms));
  if (ready == 0) return Fail(ErrorCode::kDeadlineExceeded, "the keeper did not answer in time");
  return sys::ReceivePacket(fd, wire::kControlFrameBytesMax, false);
}

constexpr int kKeeperKillMs = 1000;

// A keeper that died takes its pid 1 with it, by the end of the control socket. One that only gave
// up this connection lives on with the sandbox, and kills the job of the connection.
Result<> WaitForEither(int pid1) {
  std::vector<pollfd> items = {{pid1, POLLIN, 0}};
  BAWN_CHECK_OK(sys::Poll(&items, kKeeperKillMs));
  return {};
}

}  // namespace

Result<UniqueFd> ConnectKeeper(int sandbox_fd) { return sys::ConnectPackets(DoorOf(sandbox_fd)); }

Result<> EndKept(int sandbox_fd, int deadline_ms) {
  UniqueFd connection = BAWN_TRY(ConnectKeeper(sandbox_fd));
  BAWN_CHECK_OK(sys::SendPacket(connection.get(), wire::Encode(wire::ToInit(wire::KillJob{0}))));
  int64_t deadline = MonotonicNs() + int64_t{deadline_ms} * 1'000'000;
  while (true) {
    auto left = static_cast<int>((deadline - MonotonicNs()) / 1'000'000);
    sys::Packet packet = BAWN_TRY(ReceiveWithin(connection.get(), std::max(left, 0)));
    if (packet.eof) return {};  // the keeper closes its end when everything is gone
  }
}

Result<contain::Capabilities> AttachedEngine::Query() {
  return contain::Capabilities{plan::Level::kIsolated, "native"};
}

Result<contain::Sandbox> AttachedEngine::Provision(contain::ProvisionRequest request) {
  sys::Packet hello = BAWN_TRY(ReceiveWithin(connection_.get(), 20'000));
  if (hello.eof) return Fail(ErrorCode::kUnavailable, "the sandbox has just ended");
  wire::FromInit frame = BAWN_TRY(wire::DecodeFromInit(hello.bytes));
  if (const auto* failed = std::get_if<wire::SetupFailed>(&frame)) {
    return Fail(ErrorCode::kUnavailable, failed->stage + ": " + failed->text);
  }
  if (!std::holds_alternative<wire::Ready>(frame) || hello.fds.size() != 1) {
    return Fail(ErrorCode::kInternal, "the keeper's first packet is not Ready with a descriptor");
  }
  contain::Sandbox sandbox;
  sandbox.id = std::move(request.sandbox_id);
  sandbox.control = std::move(connection_);
  sandbox.pid1 = std::move(hello.fds[0]);
  sandbox.stands = true;
  return sandbox;
}

Result<> AttachedEngine::Execute(const contain::Sandbox& sandbox, uint32_t job, int spec_memfd,
                                 contain::JobStreams streams) {
  job_ = job;
  std::vector<int> fds = {spec_memfd};
  if (streams.in.valid()) {
    fds.insert(fds.end(), {streams.in.get(), streams.out.get(), streams.err.get()});
  }
  return sys::SendPacket(sandbox.control.get(), wire::Encode(wire::ToInit(wire::StartJob{job})),
                         fds);
}

Result<> AttachedEngine::Destroy(contain::Sandbox* sandbox, int deadline_ms) {
  // The keeper knows whether the job ended; it answers at once then.
  Result<> sent =
      sys::SendPacket(sandbox->control.get(), wire::Encode(wire::ToInit(wire::KillJob{job_})));
  if (!sent && sent.error().code == ErrorCode::kUnavailable) {
    return WaitForEither(sandbox->pid1.get());
  }
  BAWN_CHECK_OK(sent);
  int64_t deadline = MonotonicNs() + int64_t{deadline_ms} * 1'000'000;
  while (true) {
    auto left = static_cast<int>((deadline - MonotonicNs()) / 1'000'000);
    sys::Packet packet = BAWN_TRY(ReceiveWithin(sandbox->control.get(), std::max(left, 0)));
    if (packet.eof) return WaitForEither(sandbox->pid1.get());
    wire::FromInit frame = BAWN_TRY(wire::DecodeFromInit(packet.bytes));
    if (const auto* killed = std::get_if<wire::JobKilled>(&frame)) {
      if (killed->gone) return {};
      return Fail(ErrorCode::kInternal, "processes of the job are left in the sandbox");
    }
  }
}

}  // namespace bawn::launch
