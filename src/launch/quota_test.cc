#include "launch/quota.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "sys/files.h"
#include "workspace/state.h"

namespace bawn::launch {
namespace {

class QuotaTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    dir_ = *sys::OpenDir(AT_FDCWD, path_);
  }
  void TearDown() override {
    UniqueFd parent = *sys::OpenDir(AT_FDCWD, testing::TempDir());
    EXPECT_TRUE(workspace::RemoveTree(parent.get(), path_.substr(path_.rfind('/') + 1)));
  }
  void Fill(int files, size_t bytes) {
    ASSERT_TRUE(sys::MakeDirs(dir_.get(), "a/b", 0700));
    for (int i = 0; i < files; ++i) {
      std::string name = "a/b/f" + std::to_string(i);
      UniqueFd fd = *sys::Openat2(dir_.get(), name, O_WRONLY | O_CREAT, 0600);
      ASSERT_TRUE(sys::WriteAll(fd.get(), std::string(bytes, 'x')));
    }
  }
  std::string path_ = testing::TempDir() + "/quota_XXXXXX";
  UniqueFd dir_;
};

TEST_F(QuotaTest, InodesAreAllowedAtTheLimitAndKilledOneAbove) {
  Fill(10, 1);  // 10 files and 2 directories
  EXPECT_EQ(QuotaMonitor(dir_.get(), {std::nullopt, 12}).MeasureNow(), plan::KilledBy::kNothing);
  EXPECT_EQ(QuotaMonitor(dir_.get(), {std::nullopt, 11}).MeasureNow(), plan::KilledBy::kInodes);
}

TEST_F(QuotaTest, BytesAreAllocatedBlocks) {
  Fill(4, 4096);
  QuotaMonitor monitor(dir_.get(), {1 << 20, std::nullopt});
  EXPECT_EQ(monitor.MeasureNow(), plan::KilledBy::kNothing);
  uint64_t used = monitor.last().bytes;
  EXPECT_GE(used, 4U * 4096);
  EXPECT_EQ(QuotaMonitor(dir_.get(), {used, std::nullopt}).MeasureNow(), plan::KilledBy::kNothing);
  EXPECT_EQ(QuotaMonitor(dir_.get(), {used - 1, std::nullopt}).MeasureNow(), plan::KilledBy::kDisk);
}

TEST_F(QuotaTest, StepsBackOffAndAViolationHalfWayCounts) {
  Fill(20, 1);
  QuotaMonitor monitor(dir_.get(), {std::nullopt, 5});
  monitor.Start(0);
  EXPECT_EQ(monitor.due(), QuotaMonitor::kFirstMs * 1'000'000);
  EXPECT_EQ(monitor.Step(monitor.due()), plan::KilledBy::kInodes);
  EXPECT_GE(monitor.due(), 2 * QuotaMonitor::kFirstMs * 1'000'000);
}

}  // namespace
}  // namespace bawn::launch
