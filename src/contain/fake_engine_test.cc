#include <gtest/gtest.h>
#include <poll.h>

#include "contain/engines/fake.h"
#include "contain/plan_codec.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::contain {
namespace {

ProvisionRequest Request() {
  plan::Plan plan;
  plan.uid = plan.gid = 1000;
  ProvisionRequest request;
  request.sandbox_id = "sb_fake";
  request.plan = *sys::SealedMemfd("plan", EncodePlan(plan));
  return request;
}

wire::FromInit Next(const Sandbox& sandbox) {
  Result<sys::Packet> packet =
      sys::ReceivePacket(sandbox.control.get(), wire::kControlFrameBytesMax, false);
  EXPECT_TRUE(packet);
  return *wire::DecodeFromInit(packet->bytes);
}

bool Ended(const Sandbox& sandbox) {
  pollfd gone = {sandbox.pid1.get(), POLLIN, 0};
  return poll(&gone, 1, 0) == 1;
}

TEST(FakeEngineTest, PlaysItsScriptAndRemembersOrders) {
  FakeEngine engine(FakeScript{});
  Result<Sandbox> sandbox = engine.Provision(Request());
  ASSERT_TRUE(sandbox);
  EXPECT_TRUE(std::holds_alternative<wire::Ready>(Next(*sandbox)));
  plan::JobSpec spec;
  spec.argv = {"true"}, spec.cwd = "/";
  UniqueFd memfd = *sys::SealedMemfd("job", EncodeJobSpec(spec));
  ASSERT_TRUE(engine.Execute(*sandbox, 9, memfd.get(), {}));
  EXPECT_EQ(std::get<wire::JobStarted>(Next(*sandbox)).job, 9u);
  EXPECT_EQ(std::get<wire::JobExited>(Next(*sandbox)).job, 9u);
  EXPECT_EQ(engine.jobs()[0].argv[0], "true");

  std::string order = wire::Encode(wire::ToInit(wire::KillJob{9}));
  ASSERT_TRUE(sys::SendPacket(sandbox->control.get(), order));
  Result<std::vector<wire::ToInit>> orders = engine.Orders();
  ASSERT_TRUE(orders && orders->size() == 1);
  EXPECT_EQ(std::get<wire::KillJob>((*orders)[0]).job, 9u);
  EXPECT_FALSE(Ended(*sandbox));
  engine.Die();
  EXPECT_TRUE(Ended(*sandbox));
}

TEST(FakeEngineTest, ADestroyThatHangsSaysSo) {
  FakeScript script;
  script.destroy_hangs = true;
  FakeEngine engine(script);
  Result<Sandbox> sandbox = engine.Provision(Request());
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(engine.Destroy(&*sandbox, 5000).error().code, ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(sandbox->pid1.valid());  // the handle is kept
}

TEST(FakeEngineTest, AnUnreadablePlanIsRefusedAsByTheRealOne) {
  FakeEngine engine(FakeScript{});
  ProvisionRequest request;
  request.plan = *sys::SealedMemfd("plan", "garbage");
  EXPECT_FALSE(engine.Provision(std::move(request)));
}

}  // namespace
}  // namespace bawn::contain
