#include "policy/units.h"

#include <gtest/gtest.h>

namespace bawn::policy {
namespace {

TEST(UnitsTest, ReadsSizes) {
  EXPECT_EQ(*ParseSize("0"), 0U);
  EXPECT_EQ(*ParseSize("4096"), 4096U);
  EXPECT_EQ(*ParseSize("1K"), 1024U);
  EXPECT_EQ(*ParseSize("512M"), uint64_t{512} << 20);
  EXPECT_EQ(*ParseSize("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(*ParseSize("1TiB"), uint64_t{1} << 40);
  EXPECT_EQ(*ParseSize("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(*ParseSize("16777215T"), uint64_t{16777215} << 40);
}

TEST(UnitsTest, RefusesSizesThatMeanTwoThingsOrOverflow) {
  for (const char* bad : {"", "M", "1MB", "1m", "1 M", "-1", "+1", "1.5G", "0x10", "1e3", "1MiB ",
                          "18446744073709551616", "16777216T", "1M1"}) {
    EXPECT_FALSE(ParseSize(bad)) << bad;
  }
}

TEST(UnitsTest, ReadsTimes) {
  EXPECT_EQ(*ParseDuration("250ms"), 250U);
  EXPECT_EQ(*ParseDuration("90s"), 90'000U);
  EXPECT_EQ(*ParseDuration("10m"), 600'000U);
  EXPECT_EQ(*ParseDuration("2h"), 7'200'000U);
  EXPECT_EQ(*ParseDuration("7d"), 604'800'000U);
  for (const char* bad : {"", "90", "s", "1.5s", "-1s", "1w", "1M", "213503982335d"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
}

TEST(UnitsTest, ReadsCountsAndCpus) {
  EXPECT_EQ(*ParseCount("256"), 256U);
  for (const char* bad : {"", "1K", "-1", "1.0", " 1"}) EXPECT_FALSE(ParseCount(bad)) << bad;
  EXPECT_EQ(*ParseCpus("2"), 2000U);
  EXPECT_EQ(*ParseCpus("1.5"), 1500U);
  EXPECT_EQ(*ParseCpus("0.001"), 1U);
  EXPECT_EQ(*ParseCpus("4096"), 4'096'000U);
  for (const char* bad : {"", "0", "0.000", "1.", ".5", "1.0005", "4096.001", "4097", "-1", "1,5",
                          "1.-5", "99999999999999999999"}) {
    EXPECT_FALSE(ParseCpus(bad)) << bad;
  }
}

}  // namespace
}  // namespace bawn::policy
