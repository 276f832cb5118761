#include "launch/output.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include "launch/timers.h"
#include "sys/files.h"
#include "sys/sockets.h"

namespace bawn::launch {
namespace {

class OutputTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    dir_ = *sys::OpenDir(AT_FDCWD, path_);
  }
  void TearDown() override {
    (void)sys::Unlinkat(dir_.get(), "out.log");
    (void)sys::Unlinkat(AT_FDCWD, path_, AT_REMOVEDIR);
  }
  // Feeds `bytes` through a stream that keeps `kept_max`; gives the report and what a caller saw.
  plan::StreamReport Feed(const std::string& bytes, uint64_t kept_max, std::string* seen) {
    auto job = *sys::Pipe();
    auto caller = *sys::Pipe();
    OutputStream::Options options;
    options.source = std::move(job.first);
    options.destination = caller.second.get();
    options.log_dir = dir_.get();
    options.log_name = "out.log";
    options.kept_bytes_max = kept_max;
    OutputStream stream = *OutputStream::Open(std::move(options));
    for (size_t at = 0; at < bytes.size(); at += 7) {
      EXPECT_TRUE(sys::WriteAll(job.second.get(), std::string_view(bytes).substr(at, 7)));
      EXPECT_TRUE(stream.Pump());
    }
    job.second.Reset();
    while (!stream.ended()) EXPECT_TRUE(stream.Pump());
    caller.second.Reset();
    *seen = *sys::ReadAll(caller.first.get(), 1 << 20);
    return *stream.Finish();
  }
  std::string path_ = testing::TempDir() + "/output_XXXXXX";
  UniqueFd dir_;
};

std::string Numbered(size_t size) {
  std::string bytes;
  for (size_t i = 0; bytes.size() < size; ++i) bytes += std::to_string(i) + "\n";
  return bytes.substr(0, size);
}

TEST_F(OutputTest, KeepsAllUpToTheBoundAndHeadAndTailBeyondIt) {
  for (size_t size :
       {0UL, 1UL, 49UL, 50UL, 51UL, 99UL, 100UL, 101UL, 149UL, 150UL, 151UL, 1234UL}) {
    std::string bytes = Numbered(size);
    std::string seen;
    plan::StreamReport report = Feed(bytes, 100, &seen);
    std::string kept = size <= 100 ? bytes : bytes.substr(0, 50) + bytes.substr(size - 50);
    EXPECT_EQ(seen, bytes) << size;
    EXPECT_EQ(report.bytes_total, size);
    EXPECT_EQ(report.truncated, size > 100) << size;
    EXPECT_EQ(report.sha256, Sha256Hex(kept)) << size;
    if (size == 0) continue;  // a silent job leaves no file
    EXPECT_EQ(*sys::ReadFileAt(dir_.get(), "out.log", 10000), kept) << size;
    ASSERT_TRUE(sys::Unlinkat(dir_.get(), "out.log"));
  }
}

TEST_F(OutputTest, BrokenDestinationIsAFactAndTheLogGoesOn) {
  auto job = *sys::Pipe();
  auto caller = *sys::Pipe();
  signal(SIGPIPE, SIG_IGN);
  OutputStream::Options options;
  options.source = std::move(job.first);
  options.destination = caller.second.get();
  options.log_dir = dir_.get();
  options.log_name = "out.log";
  OutputStream stream = *OutputStream::Open(std::move(options));
  caller.first.Reset();
  ASSERT_TRUE(sys::WriteAll(job.second.get(), "lost"));
  ASSERT_TRUE(stream.Pump());
  EXPECT_TRUE(stream.destination_broken());
  EXPECT_EQ(stream.destination_errno(), EPIPE);
  job.second.Reset();
  ASSERT_TRUE(stream.Pump());
  EXPECT_TRUE(stream.ended());
  EXPECT_EQ(stream.Finish()->bytes_total, 4U);
}

TEST(TimersTest, WaitsForTheNearestDeadline) {
  Timers timers;
  EXPECT_EQ(timers.WaitMs(0), -1);
  timers.time = 10'000'000;
  timers.idle_ns = 5'000'000;
  timers.idle_since = 1'000'000;
  EXPECT_EQ(timers.WaitMs(0), 6);
  EXPECT_EQ(timers.WaitMs(6'000'000), 0);
  EXPECT_FALSE(Timers::Due(timers.idle(), 5'999'999));
  EXPECT_TRUE(Timers::Due(timers.idle(), 6'000'000));
}

}  // namespace
}  // namespace bawn::launch
