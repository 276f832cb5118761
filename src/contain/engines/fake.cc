#include "contain/engines/fake.h"

#include <cerrno>

#include "contain/plan_codec.h"
#include "sys/sealed.h"
#include "sys/sockets.h"

namespace bawn::contain {
namespace {

struct WithJob {
  uint32_t job;
  wire::FromInit operator()(wire::JobStarted frame) const { return frame.job = job, frame; }
  wire::FromInit operator()(wire::JobFailed frame) const { return frame.job = job, frame; }
  wire::FromInit operator()(wire::JobExited frame) const { return frame.job = job, frame; }
  wire::FromInit operator()(wire::JobKilled frame) const { return frame.job = job, frame; }
  template <class Other>
  wire::FromInit operator()(Other frame) const {
    return frame;
  }
};

}  // namespace

Result<Capabilities> FakeEngine::Query() { return Capabilities{script_.highest, "fake"}; }

Result<Sandbox> FakeEngine::Provision(ProvisionRequest request) {
  std::string bytes = BAWN_TRY(sys::ReadWhole(request.plan.get(), wire::kPlanBytesMax));
  BAWN_CHECK_OK(DecodePlan(bytes));
  auto [ours, theirs] = BAWN_TRY(sys::SeqpacketPair());
  auto [pid1, alive] = BAWN_TRY(sys::Pipe());
  control_ = std::move(theirs);
  alive_ = std::move(alive);
  for (const wire::FromInit& frame : script_.on_provision) BAWN_CHECK_OK(Push(frame));
  Sandbox sandbox;
  sandbox.id = std::move(request.sandbox_id);
  sandbox.control = std::move(ours);
  sandbox.pid1 = std::move(pid1);
  return sandbox;
}

Result<> FakeEngine::Execute(const Sandbox& /*sandbox*/, uint32_t job, int spec_memfd,
                             JobStreams streams) {
  std::string bytes = BAWN_TRY(sys::ReadWhole(spec_memfd, wire::kJobSpecBytesMax));
  jobs_.push_back(BAWN_TRY(DecodeJobSpec(bytes)));
  streams_ = std::move(streams);
  for (const wire::FromInit& frame : script_.on_execute) {
    BAWN_CHECK_OK(Push(std::visit(WithJob{job}, frame)));
  }
  return {};
}

Result<> FakeEngine::Destroy(Sandbox* sandbox, int deadline_ms) {
  if (script_.destroy_hangs) {
    return Fail(ErrorCode::kDeadlineExceeded,
                "not ended " + std::to_string(deadline_ms) + " ms after SIGKILL: 1 (fake)");
  }
  Die();
  sandbox->pid1.Reset();
  sandbox->control.Reset();
  return {};
}

Result<> FakeEngine::Push(const wire::FromInit& frame, int fd) {
  std::vector<int> fds;
  if (fd >= 0) fds.push_back(fd);
  return sys::SendPacket(control_.get(), wire::Encode(frame), fds);
}

Result<std::vector<wire::ToInit>> FakeEngine::Orders() {
  std::vector<wire::ToInit> orders;
  while (true) {
    Result<sys::Packet> packet =
        sys::ReceivePacket(control_.get(), wire::kControlFrameBytesMax, false);
    if (!packet && packet.error().sys_errno == EAGAIN) return orders;
    if (!packet) return std::unexpected(std::move(packet).error());
    if (packet->eof) return orders;
    orders.push_back(BAWN_TRY(wire::DecodeToInit(packet->bytes)));
  }
}

void FakeEngine::Die() {
  control_.Reset();
  alive_.Reset();
  streams_ = {};
}

}  // namespace bawn::contain
