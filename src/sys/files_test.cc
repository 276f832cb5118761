#include "sys/files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::sys {
namespace {

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    dir_ = *OpenDir(AT_FDCWD, path_);
  }
  void TearDown() override { std::ignore = system(("rm -rf " + path_).c_str()); }  // NOLINT
  std::string path_ = testing::TempDir() + "/files_XXXXXX";
  UniqueFd dir_;
};

TEST_F(FilesTest, UntrustedOpenRefusesLinksAndLeavingTheTree) {
  ASSERT_TRUE(Symlinkat("/etc/passwd", dir_.get(), "link"));
  ASSERT_TRUE(WriteFileAtomic(dir_.get(), "plain", "x", 0600, true));
  EXPECT_TRUE(Openat2(dir_.get(), "plain", O_RDONLY, 0, kUntrusted));
  EXPECT_EQ(Openat2(dir_.get(), "link", O_RDONLY, 0, kUntrusted).error().sys_errno, ELOOP);
  EXPECT_EQ(Openat2(dir_.get(), "../x", O_RDONLY, 0, kUntrusted).error().sys_errno, EXDEV);
  EXPECT_TRUE(Openat2(dir_.get(), "link", O_RDONLY));  // control: without the flags it is followed
}

TEST_F(FilesTest, ReadAllHoldsItsLimitAtMaxAndMaxPlusOne) {
  ASSERT_TRUE(WriteFileAtomic(dir_.get(), "f", "12345", 0600, false));
  EXPECT_EQ(*ReadFileAt(dir_.get(), "f", 5), "12345");
  EXPECT_EQ(ReadFileAt(dir_.get(), "f", 4).error().code, ErrorCode::kResourceExhausted);
}

TEST_F(FilesTest, WriteFileAtomicReplacesAndLeavesNoTemporary) {
  ASSERT_TRUE(WriteFileAtomic(dir_.get(), "f", "old", 0600, false));
  ASSERT_TRUE(WriteFileAtomic(dir_.get(), "f", "new", 0600, true));
  EXPECT_EQ(*ReadFileAt(dir_.get(), "f", 10), "new");
  EXPECT_EQ(ListDir(dir_.get())->size(), 1U);
}

TEST_F(FilesTest, PacketsCarryDescriptorsAndEof) {
  auto pair = SeqpacketPair();
  ASSERT_TRUE(pair);
  ASSERT_TRUE(SendPacket(pair->first.get(), "hello", {dir_.get()}));
  Result<Packet> packet = ReceivePacket(pair->second.get(), 64, true);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->bytes, "hello");
  ASSERT_EQ(packet->fds.size(), 1U);
  EXPECT_EQ(Fstat(packet->fds[0].get())->ino, Fstat(dir_.get())->ino);
  pair->first.Reset();
  EXPECT_TRUE(ReceivePacket(pair->second.get(), 64, true)->eof);
}

TEST_F(FilesTest, PacketOverItsLimitIsRefused) {
  auto pair = SeqpacketPair();
  ASSERT_TRUE(SendPacket(pair->first.get(), "12345"));
  ASSERT_TRUE(SendPacket(pair->first.get(), "1234"));
  EXPECT_EQ(ReceivePacket(pair->second.get(), 4, true).error().code, ErrorCode::kInternal);
  EXPECT_EQ(ReceivePacket(pair->second.get(), 4, true)->bytes, "1234");
}

TEST_F(FilesTest, SpawnGivesExactlyTheListedDescriptors) {
  auto pipe = Pipe();
  UniqueFd shell = *Openat2(AT_FDCWD, "/bin/ls", O_RDONLY);
  SpawnSpec spec;
  spec.program_fd = shell.get();
  spec.argv = {"ls", "/proc/self/fd"};
  spec.fds = {dir_.get(), pipe->second.get(), pipe->second.get()};
  Result<Child> child = Spawn(spec);
  ASSERT_TRUE(child);
  pipe->second.Reset();
  EXPECT_EQ(*ReadAll(pipe->first.get(), 100), "0\n1\n2\n3\n");  // 3 is ls reading the directory
  bool ended = false;
  EXPECT_EQ(WaitPidfd(child->pidfd.get(), true, &ended)->status, 0);
}

TEST_F(FilesTest, SealedMemfdCannotBeWritten) {
  UniqueFd fd = *SealedMemfd("t", "abc");
  EXPECT_EQ(*ReadAll(Reopen(fd.get(), O_RDONLY)->get(), 10), "abc");
  EXPECT_EQ(Pwrite(fd.get(), "x", 0).error().sys_errno, EPERM);
}

}  // namespace
}  // namespace bawn::sys
