#include "contain/subids.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contain/test_child.h"
#include "sys/files.h"

namespace bawn::contain {
namespace {

using ::testing::HasSubstr;

class SubIdsTest : public ::testing::Test {
 protected:
  void Write(const char* name, const std::string& text) {
    UniqueFd dir = sys::OpenDir(AT_FDCWD, dir_.path()).value();
    ASSERT_TRUE(sys::WriteFileAtomic(dir.get(), name, text, 0644, false));
  }
  SubIdFiles Files() const {
    return {dir_ / "subuid", dir_ / "subgid", dir_ / "passwd", dir_ / "group"};
  }
  void SetUp() override {
    Write("passwd", "root:x:0:0:root:/root:/bin/sh\ncarol:x:1000:1000::/home/carol:/bin/sh\n");
    Write("group", "root:x:0:\ncarol:x:1000:\n");
    WriteBoth("carol:100000:65536\nbawn:1879048192:1048576\n");
  }
  void TearDown() override {
    for (const char* name : {"subuid", "subgid", "passwd", "group"}) {
      (void)sys::Unlinkat(AT_FDCWD, dir_ / name);
    }
  }
  void WriteBoth(const std::string& text) { Write("subuid", text), Write("subgid", text); }
  std::string Refusal() {
    Result<SubIds> ids = ReadSubIds(Files());
    if (ids) return "accepted";
    EXPECT_EQ(ids.error().code, ErrorCode::kFailedPrecondition);
    hint_ = ids.error().hint;
    return ids.error().message;
  }

  TempDir dir_;
  std::string hint_;
};

TEST_F(SubIdsTest, ReadsOurEntry) {
  SubIds ids = ReadSubIds(Files()).value();
  EXPECT_EQ(ids.uids.first, 1879048192u);
  EXPECT_EQ(ids.uids.count, 1048576u);
  EXPECT_EQ(ids.gids.first, 1879048192u);
}

TEST_F(SubIdsTest, AbsentEntryNamesTheLineToAdd) {
  WriteBoth("carol:100000:65536\n");
  EXPECT_THAT(Refusal(), HasSubstr("subuid has no entry for bawn"));
  EXPECT_THAT(hint_, HasSubstr("add the line bawn:1879048192:1048576 to "));
  EXPECT_THAT(hint_, HasSubstr("subgid"));
}

TEST_F(SubIdsTest, AbsentFilesAreAbsentEntries) {
  ASSERT_TRUE(sys::Unlinkat(AT_FDCWD, dir_ / "subgid"));
  EXPECT_THAT(Refusal(), HasSubstr("subgid has no entry for bawn"));
}

TEST_F(SubIdsTest, TheSuggestedLineAvoidsOthers) {
  Write("subuid", "carol:1879048190:3\n");
  Write("group", "root:x:0:\nbig:x:1880096768:\n");
  EXPECT_THAT(Refusal(), HasSubstr("no entry"));
  EXPECT_THAT(hint_, HasSubstr("bawn:1881145344:1048576"));
}

TEST_F(SubIdsTest, OverlapsAreRefusedByName) {
  WriteBoth("carol:100000:65536\nbawn:165535:65536\n");
  EXPECT_THAT(Refusal(), HasSubstr("overlaps the entry of carol"));
  WriteBoth("carol:100000:65536\nbawn:165536:65536\n");
  EXPECT_EQ(Refusal(), "accepted") << "control: adjacent";
  WriteBoth("bawn:200000:65536\n");
  Write("passwd", "mallory:x:265535:1::/:/bin/sh\n");
  EXPECT_THAT(Refusal(), HasSubstr("overlaps mallory in"));
  Write("passwd", "mallory:x:265536:1::/:/bin/sh\n");
  EXPECT_EQ(Refusal(), "accepted") << "control: one above";
  Write("group", "team:x:200000:\n");
  EXPECT_THAT(Refusal(), HasSubstr("subgid: the entry for bawn overlaps team"));
  Write("group", "team:x:199999:\n");
  EXPECT_EQ(Refusal(), "accepted") << "control: one below";
}

TEST_F(SubIdsTest, EntriesAreBoundedAndSingle) {
  WriteBoth("bawn:65535:10\n");
  EXPECT_THAT(Refusal(), HasSubstr("not within 65536"));
  WriteBoth("bawn:65536:10\n");
  EXPECT_EQ(Refusal(), "accepted");
  WriteBoth("bawn:4294967285:10\n");
  EXPECT_EQ(Refusal(), "accepted");
  WriteBoth("bawn:4294967286:10\n");
  EXPECT_THAT(Refusal(), HasSubstr("not within"));
  WriteBoth("bawn:200000:0\n");
  EXPECT_THAT(Refusal(), HasSubstr("is empty"));
  WriteBoth("bawn:200000:10\nbawn:300000:10\n");
  EXPECT_THAT(Refusal(), HasSubstr("more than one entry"));
}

TEST_F(SubIdsTest, AMalformedLineOfAnybodyIsRefused) {
  for (const char* line : {"carol:100000", "carol:100000:x", "carol:-5:7", "carol:1:2:3",
                           "carol:4294967296:1", "carol: 1:2", "carol:18446744073709551617:1"}) {
    WriteBoth(std::string("# a comment\n\n") + line + "\nbawn:200000:65536\n");
    EXPECT_THAT(Refusal(), HasSubstr("subuid:3 is not OWNER:FIRST:COUNT")) << line;
  }
  WriteBoth("bawn:200000:65536\n");
  Write("passwd", "root:x:0:0::/:\ncarol\n");
  EXPECT_THAT(Refusal(), HasSubstr("passwd:2 is not NAME:PASSWORD:ID"));
  Write("passwd", "+::::::\nroot:x:0:0::/:\n");
  EXPECT_EQ(Refusal(), "accepted");
}

}  // namespace
}  // namespace bawn::contain
