#include "cli/values.h"

#include <gtest/gtest.h>

namespace bawn::cli {
namespace {

struct Good {
  const char* text;
  uint64_t value;
};

TEST(ValuesTest, SizesAreBinaryWithOrWithoutIB) {
  for (Good good : {Good{"1", 1}, Good{"512M", 512ULL << 20}, Good{"2GiB", 2ULL << 30},
                    Good{"3K", 3072}, Good{"1KiB", 1024}, Good{"1T", 1ULL << 40}}) {
    Result<uint64_t> value = ParseSize(good.text);
    ASSERT_TRUE(value) << good.text;
    EXPECT_EQ(*value, good.value) << good.text;
  }
}

TEST(ValuesTest, SizesThatAreNoneAreRefusedWithAnExample) {
  for (const char* bad : {"", "M", "512MB", "512m", "1.5G", "-1", "+1", " 1", "1 ", "1 M", "0x10",
                          "0", "1e3", "99999999999999999999", "\xff", "1\n"}) {
    Result<uint64_t> value = ParseSize(bad);
    ASSERT_FALSE(value) << bad;
    EXPECT_EQ(value.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(value.error().hint.find("512M"), std::string::npos);
  }
  EXPECT_NE(ParseSize("512MB").error().message.find("'512MB'"), std::string::npos);
}

TEST(ValuesTest, SizesHoldAtMaxAndNotAtMaxPlusOne) {
  EXPECT_EQ(*ParseSize("1152921504606846976"), kSizeMax);
  EXPECT_FALSE(ParseSize("1152921504606846977"));
  EXPECT_EQ(*ParseSize("1048576T"), kSizeMax);
  EXPECT_FALSE(ParseSize("1048577T"));
}

TEST(ValuesTest, TimesNeedTheirUnit) {
  for (Good good : {Good{"1ms", 1}, Good{"90s", 90'000}, Good{"10m", 600'000},
                    Good{"2h", 7'200'000}, Good{"7d", 604'800'000}}) {
    ASSERT_TRUE(ParseDuration(good.text)) << good.text;
    EXPECT_EQ(*ParseDuration(good.text), good.value);
  }
  for (const char* bad : {"90", "0s", "s", "1.5h", "10min", "1h30m", "-1s", "10 m", "10M"}) {
    ASSERT_FALSE(ParseDuration(bad)) << bad;
    EXPECT_NE(ParseDuration(bad).error().hint.find("90s"), std::string::npos);
  }
  EXPECT_EQ(*ParseDuration("3650d"), kDurationMax);
  EXPECT_FALSE(ParseDuration("3651d"));
  EXPECT_FALSE(ParseDuration("315360000001ms"));
}

TEST(ValuesTest, CountsAreWholeFromOne) {
  EXPECT_EQ(*ParseCount("1"), 1U);
  EXPECT_EQ(*ParseCount("1099511627776"), kCountMax);
  for (const char* bad : {"0", "1099511627777", "", "1k", "-5", "1.0", "ten"}) {
    EXPECT_FALSE(ParseCount(bad)) << bad;
  }
}

TEST(ValuesTest, CpusHaveUpToThreeDecimals) {
  for (Good good : {Good{"2", 2000}, Good{"1.5", 1500}, Good{"0.001", 1}, Good{"0.25", 250},
                    Good{"4096", kCpusMax}}) {
    ASSERT_TRUE(ParseCpus(good.text)) << good.text;
    EXPECT_EQ(*ParseCpus(good.text), good.value);
  }
  for (const char* bad : {"0", "0.0", "0.0001", "4096.001", "4097", "1.", ".5", "1,5", "50%", ""}) {
    EXPECT_FALSE(ParseCpus(bad)) << bad;
  }
}

TEST(ValuesTest, DescriptorsAreNumbers) {
  EXPECT_EQ(*ParseFd("0"), 0U);
  EXPECT_EQ(*ParseFd("1073741823"), kFdMax);
  for (const char* bad : {"1073741824", "-1", "", "3x", "stdout"})
    EXPECT_FALSE(ParseFd(bad)) << bad;
}

TEST(ValuesTest, WordsGetASuggestion) {
  EXPECT_TRUE(CheckValue(Kind::kLevel, "bounded"));
  Result<uint64_t> level = CheckValue(Kind::kLevel, "isolatd");
  ASSERT_FALSE(level);
  EXPECT_NE(level.error().hint.find("did you mean isolated?"), std::string::npos);
  EXPECT_TRUE(CheckValue(Kind::kLimits, "memory,cpu"));
  for (const char* bad : {"", "memory,", "memory,,cpu", "memroy", "time"}) {
    EXPECT_FALSE(CheckValue(Kind::kLimits, bad)) << bad;
  }
  EXPECT_NE(CheckValue(Kind::kLimits, "cpu,memroy").error().hint.find("memory"), std::string::npos);
}

TEST(ValuesTest, NamesOfSandboxesAreSafeInBranchesAndCommands) {
  EXPECT_TRUE(CheckValue(Kind::kName, "fix-contrast_2"));
  EXPECT_TRUE(CheckValue(Kind::kName, std::string(63, 'a')));
  for (const std::string& bad : {std::string(64, 'a'), std::string(), std::string("-x"),
                                 std::string("sb_x"), std::string("A"), std::string("a b"),
                                 std::string("a/b"), std::string(".."), std::string("a\n")}) {
    EXPECT_FALSE(CheckValue(Kind::kName, bad)) << bad;
  }
}

TEST(ValuesTest, EnvironmentWordsAreToldApart) {
  EXPECT_TRUE(CheckValue(Kind::kEnvSet, "A=b=c"));
  EXPECT_TRUE(CheckValue(Kind::kEnvSet, "A="));
  EXPECT_NE(CheckValue(Kind::kEnvSet, "HOME").error().hint.find("--pass-env"), std::string::npos);
  EXPECT_FALSE(CheckValue(Kind::kEnvSet, "=x"));
  EXPECT_TRUE(CheckValue(Kind::kEnvName, "HOME"));
  EXPECT_FALSE(CheckValue(Kind::kEnvName, "HOME=x"));
  EXPECT_FALSE(CheckValue(Kind::kEnvName, ""));
}

TEST(ValuesTest, DigestsAreSixtyFourHexDigits) {
  EXPECT_TRUE(CheckValue(Kind::kDigest, std::string(64, 'a')));
  EXPECT_FALSE(CheckValue(Kind::kDigest, std::string(63, 'a')));
  EXPECT_FALSE(CheckValue(Kind::kDigest, std::string(65, 'a')));
  EXPECT_FALSE(CheckValue(Kind::kDigest, std::string(64, 'A')));
  EXPECT_FALSE(CheckValue(Kind::kDigest, "DIGEST"));
}

}  // namespace
}  // namespace bawn::cli
