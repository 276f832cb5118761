#include "workspace/remove.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "sys/files.h"

namespace bawn::workspace {
namespace {

class RemoveTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    dir_ = *sys::OpenDir(AT_FDCWD, path_);
    ASSERT_TRUE(sys::WriteFileAtomic(dir_.get(), "canary", "alive", 0600, false));
    ASSERT_TRUE(sys::Mkdirat(dir_.get(), "outside", 0700));
    ASSERT_TRUE(sys::WriteFileAtomic(dir_.get(), "outside/canary", "alive", 0600, false));
    ASSERT_TRUE(sys::Mkdirat(dir_.get(), "tree", 0700));
  }
  void TearDown() override {
    EXPECT_EQ(*sys::ReadFileAt(dir_.get(), "canary", 100), "alive");
    EXPECT_EQ(*sys::ReadFileAt(dir_.get(), "outside/canary", 100), "alive");
    EXPECT_TRUE(RemoveTree(dir_.get(), "outside"));
    EXPECT_TRUE(sys::Unlinkat(dir_.get(), "canary"));
    EXPECT_EQ(rmdir(path_.c_str()), 0) << "something was left behind";
  }
  bool Gone(const char* name) {
    Result<sys::FileStat> st = sys::Fstatat(dir_.get(), name);
    return !st && st.error().sys_errno == ENOENT;
  }
  std::string path_ = testing::TempDir() + "/remove_XXXXXX";
  UniqueFd dir_;
};

TEST_F(RemoveTest, ModesSpecialFilesAndLinks) {
  int d = dir_.get();
  ASSERT_TRUE(sys::MakeDirs(d, "tree/locked/inner", 0700));
  ASSERT_TRUE(sys::WriteFileAtomic(d, "tree/locked/inner/f", "x", 0000, false));
  ASSERT_TRUE(sys::WriteFileAtomic(d, "tree/setuid", "x", 0700, false));
  UniqueFd setuid = *sys::Openat2(d, "tree/setuid", O_RDONLY);
  ASSERT_TRUE(sys::Fchmod(setuid.get(), 04755));
  ASSERT_TRUE(sys::Mknodat(d, "tree/fifo", S_IFIFO | 0600, 0));
  ASSERT_TRUE(sys::Mknodat(d, "tree/whiteout", S_IFCHR, 0));
  ASSERT_TRUE(sys::Symlinkat("../outside", d, "tree/link"));
  ASSERT_TRUE(sys::Symlinkat("../canary", d, "tree/filelink"));
  ASSERT_TRUE(sys::WriteFileAtomic(d, "tree/new\nline\xff", "x", 0600, false));
  for (const char* name : {"tree/locked/inner", "tree/locked", "tree"}) {
    UniqueFd fd = *sys::OpenDir(d, name);
    ASSERT_TRUE(sys::Fchmod(fd.get(), 0000));
  }
  ASSERT_TRUE(RemoveTree(d, "tree"));
  EXPECT_TRUE(Gone("tree"));
}

TEST_F(RemoveTest, ALinkInPlaceOfTheTreeIsRemovedNotFollowed) {
  ASSERT_TRUE(sys::Unlinkat(dir_.get(), "tree", AT_REMOVEDIR));
  ASSERT_TRUE(sys::Symlinkat("outside", dir_.get(), "tree"));
  // Control: whoever opens it the plain way holds the directory outside.
  EXPECT_TRUE(sys::Fstatat(sys::OpenDir(dir_.get(), "tree")->get(), "canary"));
  ASSERT_TRUE(RemoveTree(dir_.get(), "tree"));
  EXPECT_TRUE(Gone("tree"));
  EXPECT_TRUE(RemoveTree(dir_.get(), "tree")) << "what is gone is removed";
}

TEST_F(RemoveTest, DepthFiveThousand) {
  UniqueFd at = *sys::OpenDir(dir_.get(), "tree");
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(sys::Mkdirat(at.get(), "d", i % 7 == 0 ? 0300 : 0700));
    ASSERT_TRUE(sys::WriteFileAtomic(at.get(), "f", "x", 0600, false));
    at = *sys::Openat2(at.get(), "d", O_PATH | O_DIRECTORY);
  }
  ASSERT_TRUE(RemoveTree(dir_.get(), "tree"));
  EXPECT_TRUE(Gone("tree"));
}

TEST_F(RemoveTest, ManyFiles) {
  const char* set = getenv("BAWN_TEST_FILES");
  int files = set != nullptr ? atoi(set) : 20'000;
  for (int i = 0; i < files; ++i) {
    std::string path = "tree/" + std::to_string(i % 100);
    if (i < 100) ASSERT_TRUE(sys::Mkdirat(dir_.get(), path, 0700));
    path += "/" + std::to_string(i);
    UniqueFd fd = *sys::Openat2(dir_.get(), path, O_WRONLY | O_CREAT, 0400);
  }
  ASSERT_TRUE(RemoveTree(dir_.get(), "tree"));
  EXPECT_TRUE(Gone("tree"));
}

// O-13: a thread swaps a directory of the tree for a link to a directory outside while the tree is
// removed. The canaries are checked at the end of every test.
TEST_F(RemoveTest, RacingSymlinkSwapsNeverReachOutside) {
  const char* set = getenv("BAWN_TEST_FLIPS");
  int flips = set != nullptr ? atoi(set) : 5'000;
  UniqueFd tree = *sys::OpenDir(dir_.get(), "tree");
  ASSERT_TRUE(sys::Symlinkat(path_ + "/outside", tree.get(), "spare"));
  std::atomic<bool> stop = false;
  std::atomic<int> rounds = 0;
  std::thread flipper([&] {
    // At least ten rounds against it, however the two are scheduled.
    for (int i = 0; i < flips || rounds <= 10; ++i) {
      (void)sys::MakeDirs(tree.get(), "a/b/c", 0700);
      (void)sys::Symlinkat(path_ + "/outside", tree.get(), "spare");
      (void)sys::Renameat2(tree.get(), "a", tree.get(), "spare", 2);  // RENAME_EXCHANGE
    }
    stop = true;
  });
  while (!stop) {
    (void)RemoveTree(tree.get(), "a");  // may lose against the flipper; must not reach outside
    (void)RemoveTree(tree.get(), "spare");
    ++rounds;
  }
  flipper.join();
  EXPECT_GT(rounds, 10);
  EXPECT_TRUE(RemoveTree(dir_.get(), "tree"));
  EXPECT_TRUE(Gone("tree"));
}

TEST_F(RemoveTest, SandboxDirectoryIsRenamedFirstAndSweptWhenCutShort) {
  int d = dir_.get();
  ASSERT_TRUE(sys::MakeDirs(d, "tree/sb/sb_one/layers/0/upper", 0700));
  ASSERT_TRUE(sys::MakeDirs(d, "tree/sb/.removing_sb_two/layers", 0700));
  StateDir state{*sys::OpenDir(d, "tree"), path_ + "/tree"};
  SandboxDir one{"sb_one", *sys::OpenDir(d, "tree/sb/sb_one"), {}, path_ + "/tree/sb/sb_one"};
  ASSERT_TRUE(RemoveSandboxDir(state, std::move(one)));
  EXPECT_TRUE(Gone("tree/sb/sb_one"));
  EXPECT_FALSE(Gone("tree/sb/.removing_sb_two"));
  ASSERT_TRUE(SweepRemoved(state));
  EXPECT_TRUE(Gone("tree/sb/.removing_sb_two"));
  ASSERT_TRUE(RemoveTree(d, "tree"));
}

TEST_F(RemoveTest, ChangesGoReceiptsStay) {
  int d = dir_.get();
  ASSERT_TRUE(sys::MakeDirs(d, "tree/layers/0/upper/a", 0700));
  ASSERT_TRUE(sys::MakeDirs(d, "tree/jobs/job_1", 0700));
  SandboxDir sandbox{"sb_one", *sys::OpenDir(d, "tree"), {}, path_ + "/tree"};
  ASSERT_TRUE(RemoveChanges(sandbox));
  EXPECT_TRUE(Gone("tree/layers"));
  EXPECT_FALSE(Gone("tree/jobs/job_1"));
  ASSERT_TRUE(RemoveTree(d, "tree"));
}

}  // namespace
}  // namespace bawn::workspace
