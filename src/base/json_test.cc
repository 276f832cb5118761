#include "base/json.h"

#include <gtest/gtest.h>

namespace bawn {
namespace {

TEST(JsonTest, RoundTripKeepsOrderAndNumberTokens) {
  std::string text = R"({"b":1.10,"a":[true,null,"x\n\"y"],"n":18446744073709551615})";
  Result<Json> parsed = ParseJson(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(ToJsonText(*parsed), text);
  EXPECT_EQ(parsed->Get("n")->AsUint(), 18446744073709551615ULL);
  EXPECT_EQ(parsed->Get("n")->AsInt(), std::nullopt);
}

TEST(JsonTest, CopiesAreIndependent) {
  Json first(JsonObject{});
  (*first.AsObject())["k"] = 1;
  Json second = first;
  (*second.AsObject())["k"] = 2;
  EXPECT_EQ(first.GetInt("k"), 1);
  EXPECT_EQ(second.GetInt("k"), 2);
}

TEST(JsonTest, RefusesDuplicateKeysTrailingBytesAndIncompleteText) {
  EXPECT_FALSE(ParseJson(R"({"a":1,"a":2})"));
  EXPECT_NE(ParseJson(R"({"a":1,"a":2})").error().message.find("duplicate key a"),
            std::string::npos);
  EXPECT_FALSE(ParseJson(R"({"a":1} x)"));
  EXPECT_FALSE(ParseJson(R"({"a":1)"));
  EXPECT_FALSE(ParseJson(""));
  EXPECT_FALSE(ParseJson("\"\xff\""));
}

TEST(JsonTest, LimitsHoldAtMaxAndFailAtMaxPlusOne) {
  JsonLimits limits{.bytes_max = 8, .depth_max = 3};
  EXPECT_TRUE(ParseJson("[[[1]]] ", limits));
  EXPECT_FALSE(ParseJson("[[[1]]]  ", limits));
  EXPECT_FALSE(ParseJson("[[[[]]]]", limits));
}

}  // namespace
}  // namespace bawn
