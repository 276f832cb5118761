#include "wire/control.h"

#include <gtest/gtest.h>

#include "wire/codec.h"

namespace bawn::wire {
namespace {

TEST(ControlTest, EveryFrameRoundTrips) {
  for (const ToInit& m :
       {ToInit(Proceed{}), ToInit(StartJob{7}), ToInit(SignalJob{7, 15}), ToInit(KillJob{7})}) {
    Result<ToInit> back = DecodeToInit(Encode(m));
    ASSERT_TRUE(back);
    EXPECT_EQ(Encode(*back), Encode(m));
  }
  for (const FromInit& m :
       {FromInit(Ready{{{"userns", LayerState::kHeld, "read back"}}}),
        FromInit(SetupFailed{"overlay", 22, "fsconfig"}), FromInit(JobStarted{1, {}}),
        FromInit(JobFailed{1, "exec", 2, "x"}), FromInit(JobExited{1, 256, 5, 6, 0}),
        FromInit(JobKilled{1, true}), FromInit(TreeKilled{3})}) {
    Result<FromInit> back = DecodeFromInit(Encode(m));
    ASSERT_TRUE(back);
    EXPECT_EQ(Encode(*back), Encode(m));
  }
}

TEST(ControlTest, EveryTruncationAndEveryTrailingByteIsRefused) {
  std::string whole = Encode(FromInit(JobStarted{1, {{"net", LayerState::kHeld, "canary"}}}));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeFromInit(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodeFromInit(whole + "x"));
  EXPECT_FALSE(DecodeFromInit("\x7f"));
  EXPECT_FALSE(DecodeToInit("\x7f"));
}

TEST(CodecTest, CountsAreBoundedByTheBytesLeft) {
  Reader r(std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_TRUE(r.Strings().empty());
  EXPECT_FALSE(r.ok());
}

TEST(ControlTest, LongTextIsCutNotRefused) {
  SetupFailed m{"s", 1, std::string(10000, 'x')};
  EXPECT_TRUE(DecodeFromInit(Encode(FromInit(m))));
}

}  // namespace
}  // namespace bawn::wire
