#include "publish/update_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "publish/test_publish.h"
#include "sys/processes.h"

namespace bawn::publish {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class UpdateTreeTest : public PublishFixture {
 protected:
  static PublishRequest Update() {
    PublishRequest request = Request();
    request.update_tree = true;
    return request;
  }
  void ExpectMoved(const git::Oid& commit) {
    EXPECT_EQ(Git("rev-parse main"), commit);
    EXPECT_EQ(Git("symbolic-ref HEAD"), "refs/heads/main");
    EXPECT_EQ(Git("status --porcelain"), "");
    EXPECT_EQ(Git("diff --cached --stat HEAD"), "");
    EXPECT_EQ(Git("write-tree"), Git("rev-parse HEAD^{tree}"));
    EXPECT_FALSE(fs::exists(Tree(".git/index.lock")));
    EXPECT_EQ(Sh("ls tree/.git | grep bawn || true"), "");
  }
  // Modified, deleted, a directory gone, added, a kind changed, made executable.
  void Prepare() {
    PutTree(".git/info/exclude", "/untracked\n");
    PutTree("untracked", "the user's");
    PutTree("gone/deep/x", "x");
    PutTree("kind", "a file");
    PutTree(".gitattributes", "*.crlf text eol=crlf\n");
    PutTree("win.crlf", "one\r\n");
    CommitAndOpen();
    PutUpper("a.txt", "uno\n");
    PutUpper("win.crlf", "one\r\ntwo\r\n");
    Whiteout("gone");
    Whiteout("src/b.txt");
    PutUpper("new/dir/file", "new");
    PutUpper("kind/inner", "a directory");
    PutUpper("src/c.txt", "three\n");
    fs::permissions(Upper("src/c.txt"), fs::perms(0755));
  }
};

TEST_F(UpdateTreeTest, RefIndexAndTreeMoveTogether) {
  Prepare();
  Result<Published> published = Publish(Update());
  ASSERT_TRUE(published) << Why(published);
  ASSERT_TRUE(published->tree);
  EXPECT_THAT(published->tree->left, IsEmpty());
  ExpectMoved(published->commit);
  EXPECT_EQ(Git("rev-parse main^"), meta_.base_commit);
  EXPECT_FALSE(fs::exists(Tree("gone")));
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("win.crlf"), 100), "one\r\ntwo\r\n");
  EXPECT_TRUE(fs::exists(Tree("untracked")));
  EXPECT_TRUE(published->ended);
  EXPECT_EQ(workspace::ReadMeta(dir_)->state, kPublished);
  EXPECT_THAT(Git("reflog -1 HEAD"), HasSubstr("bawn publish"));
}

TEST_F(UpdateTreeTest, TheUsersWorkIsNeverInTheWay) {
  PutTree("dirty.txt", "d\n");
  PutTree("staged.txt", "s\n");
  Git("add -A");
  Git("commit -q -m base");
  PutTree("dirty.txt", "user\n");
  OpenRepository();
  PutUpper("dirty.txt", "user\nagent\n");
  PutUpper("a.txt", "uno\n");
  PutUpper("staged.txt", "agent\n");
  PublishRequest request = Update();
  request.include_dirty = true;  // onto the tree itself it does not help
  Sh("cd tree && echo staged | git update-index --add --cacheinfo "
     "100644,$(git hash-object -w --stdin),staged.txt");
  Result<Published> published = Publish(request);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().rule, "git.index_staged");
  EXPECT_EQ(Git("rev-parse main"), meta_.base_commit);
  EXPECT_FALSE(fs::exists(Tree(".git/index.lock")));
  request.paths = {"a.txt", "dirty.txt"};
  published = Publish(request);
  ASSERT_TRUE(published) << Why(published);
  EXPECT_THAT(refused_, testing::Contains("dirty.txt publish.dirty_base"));
  EXPECT_EQ(Git("status --porcelain"), " M dirty.txt\nMM staged.txt");
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("dirty.txt"), 100), "user\n");
}

TEST_F(UpdateTreeTest, RefusedWhereTheBranchIsNotThisTrees) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  PublishRequest request = Update();
  request.branch = "other";
  EXPECT_EQ(Publish(request).error().rule, "publish.update_tree");
  request.branch = "main";
  std::ofstream(Tree(".git/index.lock"));  // the user's git is at work
  EXPECT_EQ(Publish(request).error().rule, "git.index_locked");
  EXPECT_TRUE(fs::exists(Tree(".git/index.lock")));  // and its lock stays
  fs::remove(Tree(".git/index.lock"));
  Git("checkout -q --detach");
  EXPECT_EQ(Publish(request).error().rule, "publish.update_tree");
  Git("checkout -q main");
  Git("commit -q --allow-empty -m later");
  EXPECT_EQ(Publish(request).error().rule, "publish.branch_moved");
}

TEST_F(UpdateTreeTest, PartThenTheRest) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  PutUpper("src/b.txt", "due\n");
  PublishRequest request = Update();
  request.paths = {"a.txt"};
  Result<Published> first = Publish(request);
  ASSERT_TRUE(first) << Why(first);
  ExpectMoved(first->commit);
  EXPECT_THAT(Lines(Read()), ElementsAre("M src/b.txt"));
  request.paths = {};
  Result<Published> second = Publish(request);
  ASSERT_TRUE(second) << Why(second);
  EXPECT_THAT(second->parents, ElementsAre(first->commit));
  ExpectMoved(second->commit);
}

TEST_F(UpdateTreeTest, KilledAtEveryStepItIsAllOrNothing) {
  Prepare();
  Sh("cp -a tree saved && cp -a state saved-state");
  int moved_rounds = 0, still_rounds = 0;
  for (int n = 0;; ++n) {
    Result<sys::Child> child = sys::Clone3(0);
    ASSERT_TRUE(child);
    if (child->pid == 0) {
      int at = 0;
      step_ = [&] {
        if (at++ == n) _exit(9);
      };
      _exit(Publish(Update()) ? 0 : 1);
    }
    bool over = false;
    int status = sys::WaitPidfd(child->pidfd.get(), true, &over)->status;
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 1) << n;
    git::Repo repo = *git::Repo::Open(meta_.git_dir);
    meta_ = *workspace::ReadMeta(dir_);
    Result<> recovered = RecoverPublish({state_, dir_, meta_, repo});
    ASSERT_TRUE(recovered) << n << ": " << recovered.error().message;
    ASSERT_TRUE(publish::Recover({state_, dir_, meta_}));
    git::Oid now = Git("rev-parse main");
    bool moved = now != meta_.base_commit;
    (moved ? moved_rounds : still_rounds) += 1;
    ExpectMoved(now);  // wherever it is: ref, index and tree agree, and no lock is left
    EXPECT_EQ(IsEnded(meta_.state), moved) << n;
    EXPECT_FALSE(HasIntent(dir_));
    if (WEXITSTATUS(status) == 0) break;
    // In place, so that the tree stays the directory that was opened.
    Sh("find tree -mindepth 1 -delete; cp -a saved/. tree/; find state -mindepth 1 -delete; "
       "cp -a saved-state/. state/");
    dir_.fd = *sys::OpenDir(AT_FDCWD, path_ + "/state/sb/" + kId);
    git::Oid base = meta_.base_commit;
    OpenRepository();
    meta_.base_commit = base;
  }
  EXPECT_GT(moved_rounds, 20);
  EXPECT_GT(still_rounds, 3);
}

// What a kill -9 inside of the ref's move leaves is taken away; a lock of the user's git never is.
TEST_F(UpdateTreeTest, ALockOfOursBesideTheRefIsForgotten) {
  CommitAndOpen();
  git::Repo repo = *git::Repo::Open(meta_.git_dir);
  const std::string lock = Tree(".git/refs/heads/main.lock");
  const git::Oid ours(40, 'a');
  Intent intent;
  intent.ref = "refs/heads/main";
  intent.commit = ours;
  auto recover = [&](const std::string& text) {
    EXPECT_TRUE(WriteIntent(dir_, intent));
    std::ofstream(lock, std::ios::binary) << text;
    EXPECT_TRUE(RecoverPublish({state_, dir_, meta_, repo}));
    EXPECT_FALSE(HasIntent(dir_));
    return fs::exists(lock);
  };
  EXPECT_FALSE(recover(ours + "\n"));
  EXPECT_FALSE(recover(""));
  EXPECT_TRUE(recover(std::string(40, 'b') + "\n"));
  fs::remove(lock);
  std::ofstream(lock).close();  // from before: the user's
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_TRUE(WriteIntent(dir_, intent));
  EXPECT_TRUE(RecoverPublish({state_, dir_, meta_, repo}));
  EXPECT_TRUE(fs::exists(lock));
}

// The move is a link and the end of the lock: between them the ref has moved, and the lock is
// there.
TEST_F(UpdateTreeTest, ALockOfOursBesideAMovedRefIsForgotten) {
  CommitAndOpen();
  git::Repo repo = *git::Repo::Open(meta_.git_dir);
  const std::string lock = Tree(".git/refs/heads/side.lock");
  Intent intent;
  intent.ref = "refs/heads/side";
  intent.commit = meta_.base_commit;
  std::ofstream(Tree(".git/refs/heads/side")) << intent.commit << "\n";
  std::ofstream(lock) << intent.commit << "\n";
  EXPECT_TRUE(WriteIntent(dir_, intent));
  EXPECT_TRUE(RecoverPublish({state_, dir_, meta_, repo}));
  EXPECT_FALSE(fs::exists(lock));
}

}  // namespace
}  // namespace bawn::publish
