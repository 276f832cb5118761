#include "record/receipts.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/clock.h"
#include "base/ids.h"
#include "sys/files.h"

namespace bawn::record {
namespace {

class ReceiptsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    dir_ = *sys::OpenDir(AT_FDCWD, path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  static plan::Receipt Ran(int64_t started_at_ns, int64_t ended_at_ns) {
    plan::Receipt receipt;
    receipt.job_id = NewId("job_");
    receipt.started_at_ns = started_at_ns;
    receipt.ended_at_ns = ended_at_ns;
    return receipt;
  }
  static plan::Receipt EndedAt(int64_t ended_at_ns) { return Ran(ended_at_ns, ended_at_ns); }

  std::string path_ = testing::TempDir() + "/receipts_XXXXXX";
  UniqueFd dir_;
};

TEST_F(ReceiptsTest, AreReadBackNewestFirstAndPrivate) {
  plan::Receipt older = EndedAt(1'000'000'000'000'000'000);
  plan::Receipt newer = EndedAt(1'000'000'001'000'000'000);
  ASSERT_TRUE(WriteReceipt(dir_.get(), older, false));
  ASSERT_TRUE(WriteReceipt(dir_.get(), newer, true));
  Result<std::vector<StoredReceipt>> read = ReadReceipts(dir_.get());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].job_id, newer.job_id);
  EXPECT_EQ(ToJsonText((*read)[1].json), ToJsonText(ToJson(older)));
  std::string job = "jobs/" + newer.job_id;
  EXPECT_EQ(sys::Fstatat(dir_.get(), job)->mode & 0777, 0700U);
  EXPECT_EQ(sys::Fstatat(dir_.get(), job + "/receipt.json")->mode & 0777, 0600U);
}

TEST_F(ReceiptsTest, NothingRanIsAnEmptyListAndARunningJobIsNotListed) {
  EXPECT_TRUE(ReadReceipts(dir_.get())->empty());
  ASSERT_TRUE(sys::MakeDirs(dir_.get(), "jobs/" + NewId("job_"), 0700));
  EXPECT_TRUE(ReadReceipts(dir_.get())->empty());
}

TEST_F(ReceiptsTest, ADamagedReceiptIsReportedNotGuessedAndNotHidden) {
  plan::Receipt cut = EndedAt(1), foreign = EndedAt(2), good = EndedAt(3);
  ASSERT_TRUE(WriteReceipt(dir_.get(), cut, false));
  ASSERT_TRUE(WriteReceipt(dir_.get(), foreign, false));
  ASSERT_TRUE(WriteReceipt(dir_.get(), good, false));
  UniqueFd job = *sys::OpenDir(dir_.get(), "jobs/" + cut.job_id);
  ASSERT_TRUE(sys::WriteFileAtomic(job.get(), "receipt.json", "{\"receipt_ver", 0600, false));
  job = *sys::OpenDir(dir_.get(), "jobs/" + foreign.job_id);
  ASSERT_TRUE(
      sys::WriteFileAtomic(job.get(), "receipt.json", "{\"receipt_version\": 2}", 0600, false));
  Result<std::vector<StoredReceipt>> read = ReadReceipts(dir_.get());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ((*read)[0].job_id, good.job_id);
  EXPECT_TRUE((*read)[0].damaged.empty());
  EXPECT_FALSE((*read)[1].damaged.empty());
  EXPECT_FALSE((*read)[2].damaged.empty());
}

TEST_F(ReceiptsTest, AJobIdThatIsNoneIsRefusedBeforeAnythingIsMade) {
  plan::Receipt receipt = EndedAt(1);
  receipt.job_id = "job_../../../../../../etc/cron0";
  EXPECT_EQ(WriteReceipt(dir_.get(), receipt, false).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(sys::ListDir(dir_.get())->empty());
}

TEST_F(ReceiptsTest, ALinkInPlaceOfAJobIsNotFollowed) {
  ASSERT_TRUE(sys::MakeDirs(dir_.get(), "jobs", 0700));
  ASSERT_TRUE(sys::MakeDirs(dir_.get(), "elsewhere", 0700));
  plan::Receipt receipt = EndedAt(1);
  ASSERT_TRUE(sys::Symlinkat("../elsewhere", dir_.get(), "jobs/" + receipt.job_id));
  EXPECT_FALSE(WriteReceipt(dir_.get(), receipt, false));
  EXPECT_TRUE(sys::ListDir(sys::OpenDir(dir_.get(), "elsewhere")->get())->empty());
}

TEST_F(ReceiptsTest, RetentionIsSevenDaysToTheMillisecond) {
  int64_t now = RealtimeNs();
  plan::Receipt at_limit = EndedAt(now - kRetentionNs);
  plan::Receipt over_limit = EndedAt(now - kRetentionNs - 1'000'000);
  ASSERT_TRUE(WriteReceipt(dir_.get(), at_limit, false));
  ASSERT_TRUE(WriteReceipt(dir_.get(), over_limit, false));
  UniqueFd job = *sys::OpenDir(dir_.get(), "jobs/" + over_limit.job_id);
  ASSERT_TRUE(sys::WriteFileAtomic(job.get(), "out.log", "output", 0600, false));
  Result<uint64_t> removed = RemoveOldReceipts(dir_.get(), now);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(*removed, 1U);
  EXPECT_FALSE(sys::Fstatat(dir_.get(), "jobs/" + over_limit.job_id));
  ASSERT_EQ(ReadReceipts(dir_.get())->size(), 1U);
  EXPECT_EQ(ReadReceipts(dir_.get())->front().job_id, at_limit.job_id);
}

TEST_F(ReceiptsTest, ALongJobIsKeptByItsEndAndOneWithoutReceiptByItsDirectory) {
  int64_t now = RealtimeNs();
  plan::Receipt long_job = Ran(now - 2 * kRetentionNs, now);
  ASSERT_TRUE(WriteReceipt(dir_.get(), long_job, false));
  std::string fresh = NewId("job_"), stale = NewId("job_");
  ASSERT_TRUE(sys::MakeDirs(dir_.get(), "jobs/" + fresh, 0700));
  ASSERT_TRUE(sys::MakeDirs(dir_.get(), "jobs/" + stale, 0700));
  ASSERT_TRUE(sys::Utimensat(dir_.get(), "jobs/" + stale, now - kRetentionNs - 1, 0));
  EXPECT_EQ(*RemoveOldReceipts(dir_.get(), now), 1U);
  EXPECT_FALSE(sys::Fstatat(dir_.get(), "jobs/" + stale));
  EXPECT_TRUE(sys::Fstatat(dir_.get(), "jobs/" + fresh));
  EXPECT_TRUE(sys::Fstatat(dir_.get(), "jobs/" + long_job.job_id));
}

TEST_F(ReceiptsTest, ReceiptFileReplacesALinkAndWritesDevicesInPlace) {
  ASSERT_TRUE(sys::WriteFileAtomic(dir_.get(), "victim", "kept", 0600, false));
  ASSERT_TRUE(sys::Symlinkat("victim", dir_.get(), "receipt.json"));
  plan::Receipt receipt = EndedAt(1);
  ASSERT_TRUE(WriteReceiptFile(path_ + "/receipt.json", receipt));
  EXPECT_EQ(*sys::ReadFileAt(dir_.get(), "victim", 10), "kept");
  EXPECT_TRUE(ParseJson(*sys::ReadFileAt(dir_.get(), "receipt.json", kReceiptBytesMax)));
  EXPECT_TRUE(WriteReceiptFile("/dev/null", receipt));
  EXPECT_TRUE(sys::Fstatat(AT_FDCWD, "/dev/null")->mode & S_IFCHR);
}

TEST_F(ReceiptsTest, ReceiptFileNamesWhatIsWrong) {
  EXPECT_EQ(WriteReceiptFile(path_ + "/", EndedAt(1)).error().code, ErrorCode::kInvalidArgument);
  Result<> missing = WriteReceiptFile(path_ + "/no/such/file", EndedAt(1));
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/no/such"), std::string::npos);
}

}  // namespace
}  // namespace bawn::record
