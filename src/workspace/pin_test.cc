#include "base/ids.h"
#include "sys/processes.h"
#include "workspace/open.h"
#include "workspace/test_tree.h"

namespace bawn::workspace {
namespace {

class PinTest : public testing::Test {
 protected:
  void SetUp() override {
    tree_.Shell(R"(mkdir home; git config --global user.name N; git config --global user.email e@x
      git init -q -b main a; cd a; echo 1 > f; git add .; git commit -qm one
      git tag -a -m t v1; git pack-refs --all)");
    repository_ = **FindRepository(tree_.path() + "/a");
  }
  std::string Refs() const { return tree_.Line("git -C a for-each-ref --format='%(refname)'"); }
  TempTree tree_;
  Repository repository_;
  std::string id_ = NewId("sb_");
};

TEST_F(PinTest, KeepsTheCommitThroughTheHostsGcAndGoesWithoutATrace) {
  ASSERT_TRUE(PinBase(repository_, id_, repository_.head_commit));
  ASSERT_TRUE(PinBase(repository_, id_, repository_.head_commit));  // again: no harm
  EXPECT_EQ(Refs(), "refs/bawn/base/" + id_ + "\nrefs/heads/main\nrefs/tags/v1");
  EXPECT_EQ(tree_.Line("git -C a rev-parse refs/bawn/base/" + id_), repository_.head_commit);
  tree_.Shell(
      "cd a; git commit -q --amend -m other; git tag -d v1 >/dev/null; "
      "git reflog expire --expire=now --all; git gc -q --prune=now");
  EXPECT_EQ(tree_.Line("git -C a cat-file -t " + repository_.head_commit), "commit");
  EXPECT_EQ(tree_.Line("ls a/.git/refs/bawn 2>/dev/null || true"), "");  // gc packed it
  ASSERT_TRUE(UnpinBase(repository_.common_dir, id_));
  EXPECT_EQ(Refs(), "refs/heads/main");
  EXPECT_EQ(tree_.Line("git -C a fsck --no-dangling; ls -A a/.git | grep -c lock || true"), "0");
  tree_.Shell("git -C a gc -q --prune=now");
  EXPECT_EQ(tree_.Line("git -C a cat-file -t " + repository_.head_commit + " 2>&1 || true")
                .find("commit"),
            std::string::npos);  // control: it was the pin that kept it
}

TEST_F(PinTest, LooseOneIsRemovedWithItsDirectories) {
  std::string before = tree_.Shell("cd a/.git; find refs | sort; cat packed-refs");
  std::string other = NewId("sb_");
  ASSERT_TRUE(PinBase(repository_, id_, repository_.head_commit));
  ASSERT_TRUE(PinBase(repository_, other, repository_.head_commit));
  ASSERT_TRUE(UnpinBase(repository_.common_dir, id_));
  ASSERT_TRUE(UnpinBase(repository_.common_dir, id_));
  EXPECT_NE(Refs().find(other), std::string::npos);
  ASSERT_TRUE(UnpinBase(repository_.common_dir, other));
  EXPECT_EQ(tree_.Shell("cd a/.git; find refs | sort; cat packed-refs"), before);
}

TEST_F(PinTest, BadNamesAreRefusedAndAGoneRepositoryIsNoError) {
  EXPECT_FALSE(PinBase(repository_, "../../heads/main", repository_.head_commit));
  EXPECT_FALSE(PinBase(repository_, id_, "HEAD"));
  EXPECT_FALSE(UnpinBase(repository_.common_dir, "../../heads/main"));
  EXPECT_TRUE(UnpinBase(tree_.path() + "/none", id_));
}

TEST_F(PinTest, ALockSomebodyHoldsIsRespected) {
  ASSERT_TRUE(PinBase(repository_, id_, repository_.head_commit));
  tree_.Shell("git -C a pack-refs --all; touch a/.git/packed-refs.lock");
  EXPECT_FALSE(UnpinBase(repository_.common_dir, id_));
  tree_.Shell("test -e a/.git/packed-refs.lock; rm a/.git/packed-refs.lock");
  EXPECT_TRUE(UnpinBase(repository_.common_dir, id_));
  EXPECT_EQ(Refs(), "refs/heads/main\nrefs/tags/v1");
}

TEST_F(PinTest, ManyAtOnceLoseNothing) {
  std::vector<sys::Child> children;
  for (int c = 0; c < 4; ++c) {
    children.push_back(std::move(*sys::Clone3(0)));
    if (children.back().pid != 0) continue;
    bool good = true;
    for (int i = 0; i < 100; ++i) {
      std::string id = NewId("sb_");
      good &= bool(PinBase(repository_, id, repository_.head_commit));
      good &= bool(UnpinBase(repository_.common_dir, id));
    }
    _exit(good ? 0 : 1);
  }
  for (sys::Child& child : children) {
    bool ended = false;
    EXPECT_EQ(sys::WaitPidfd(child.pidfd.get(), true, &ended)->status, 0);
  }
  EXPECT_EQ(Refs(), "refs/heads/main\nrefs/tags/v1");
}

}  // namespace
}  // namespace bawn::workspace
