#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "contain/engine_test_support.h"

namespace bawn::contain {
namespace {

TEST(EngineTest, TrueRunsAndEveryLayerIsHeld) {
  Enclosure enclosure;
  Result<> started = enclosure.Start();
  ASSERT_TRUE(started) << started.error().message;
  for (const wire::LayerFact& fact : enclosure.ready.layers) {
    EXPECT_EQ(fact.state, wire::LayerState::kHeld) << fact.name << ": " << fact.verified_by;
  }
  EXPECT_EQ(enclosure.ready.layers.size(), 6u);
  JobResult result = enclosure.Run(enclosure.Spec({"true"}));
  EXPECT_EQ(result.exit_code(), 0);
  ASSERT_TRUE(result.started) << (result.failed ? result.failed->stage + result.failed->text : "");
  EXPECT_GE(result.started->canaries.size(), 5u);
}

}  // namespace
}  // namespace bawn::contain
