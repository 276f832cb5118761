#include "base/ids.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/sha256.h"

namespace bawn {
namespace {

TEST(IdsTest, NewIdIsRecognisedAndOthersAreNot) {
  std::string id = NewId("sb_");
  EXPECT_TRUE(IsId(id, "sb_"));
  EXPECT_FALSE(IsId(id, "job_"));
  EXPECT_FALSE(IsId(id + "a", "sb_"));
  EXPECT_FALSE(IsId("sb_../../../../etc/passwd0000", "sb_"));
  EXPECT_NE(NewId("sb_"), id);
}

TEST(Sha256Test, MatchesTheFipsVector) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ClockTest, FormatsRfc3339) {
  EXPECT_EQ(FormatTime(1'000'000'000'123'000'000), "2001-09-09T01:46:40.123Z");
}

}  // namespace
}  // namespace bawn
