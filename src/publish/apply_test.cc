#include "publish/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/text.h"
#include "publish/finish.h"
#include "publish/test_act.h"
#include "sys/processes.h"
#include "workspace/remembered.h"

namespace bawn::publish {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using workspace::ChangeSet;

class ApplyTest : public ActTest {
 protected:
  // Every kind of change once.
  void Prepare() {
    PutTree("gone.txt", "gone");
    PutTree("old/deep/x", "x");
    PutTree("dir/in", "in");
    PutTree("file", "file");
    fs::create_symlink("a.txt", Tree("link"));
    OpenAndRecord();
    PutUpper("a.txt", "uno, longer than before\n");
    PutUpper("src/c.txt", "three\n");
    fs::permissions(Upper("src/c.txt"), fs::perms(0755));
    PutUpper("new/deep/file", "new");
    fs::create_symlink("../a.txt", Upper("new/link"));
    fs::create_symlink("src/b.txt", Upper("link"));
    PutUpper("dir", "was a directory");
    PutUpper("file/inner", "was a file");
    fs::create_directories(Upper("empty"));
    Whiteout("gone.txt");
    Whiteout("old");
    PutUpper("suid", "s");
    ASSERT_EQ(chmod(Upper("suid").c_str(), 06755), 0);
  }
  // Runs `act` in a process that ends at its n-th step; true when it came to its end before that.
  bool RunKilled(int n, const std::function<bool()>& act) {
    Result<sys::Child> child = sys::Clone3(0);
    if (child->pid == 0) {
      int at = 0;
      step_ = [&] {
        if (at++ == n) _exit(9);
      };
      _exit(act() ? 0 : 1);
    }
    bool ended = false;
    int status = sys::WaitPidfd(child->pidfd.get(), true, &ended)->status;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 1) << "step " << n;
    return WEXITSTATUS(status) == 0;
  }
};

const std::vector<std::string> kApplied_ = {"a.txt 420 uno, longer than before\n",
                                            "dir 420 was a directory",
                                            "empty/",
                                            "file/",
                                            "file/inner 420 was a file",
                                            "link -> src/b.txt",
                                            "new/",
                                            "new/deep/",
                                            "new/deep/file 420 new",
                                            "new/link -> ../a.txt",
                                            "src/",
                                            "src/b.txt 420 two\n",
                                            "src/c.txt 493 three\n",
                                            "suid 493 s"};

TEST_F(ApplyTest, EveryKindOfChangeAndBackAgain) {
  umask(0022);
  Prepare();
  std::vector<std::string> before = Snapshot();
  int64_t mtime = sys::Fstatat(AT_FDCWD, Tree("a.txt"))->mtime_ns;
  Result<Applied> applied = ApplyAll();
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_THAT(applied->left, IsEmpty());
  EXPECT_EQ(Snapshot(), kApplied_);
  EXPECT_TRUE(applied->ended);
  EXPECT_EQ(workspace::ReadMeta(dir_)->state, kApplied);
  EXPECT_FALSE(fs::exists(path_ + "/sb/layers"));

  Result<Applied> undone = Undo(Context());
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_THAT(undone->left, IsEmpty());
  EXPECT_EQ(Snapshot(), before);
  EXPECT_EQ(sys::Fstatat(AT_FDCWD, Tree("a.txt"))->mtime_ns, mtime);

  Result<Applied> again = Undo(Context());  // nothing is lost by taking it back
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(Snapshot(), kApplied_);
}

TEST_F(ApplyTest, UndoLeavesWhatWasEditedSince) {
  Prepare();
  ASSERT_TRUE(ApplyAll());
  PutTree("a.txt", "the user's own, later\n");
  PutTree("new/mine", "mine");
  fs::remove(Tree("suid"));
  Result<Applied> undone = Undo(Context());
  ASSERT_TRUE(undone) << undone.error().message;
  std::vector<std::string> left;
  for (const Applied::Left& one : undone->left) left.push_back(one.path + " " + one.why);
  std::ranges::sort(left);
  EXPECT_THAT(left, ElementsAre("a.txt changed since the apply", "new not_empty",
                                "suid changed since the apply"));
  EXPECT_TRUE(fs::exists(Tree("new/mine")));
  EXPECT_TRUE(fs::exists(Tree("gone.txt")));
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("a.txt"), 100), "the user's own, later\n");
}

// kill -9 at every step: the next command finds either nothing done or everything, and goes on.
TEST_F(ApplyTest, KilledAtEveryStepItIsTakenUp) {
  umask(0022);
  Prepare();
  const std::vector<std::string> before = Snapshot();
  int steps = 0;
  for (int n = 0;; ++n) {
    std::string copy = "rm -rf " + path_ + "/saved && cp -a " + path_ + "/tree " + path_ +
                       "/saved && rm -rf " + path_ + "/saved-state && cp -a " + path_ + "/state " +
                       path_ + "/saved-state";
    ASSERT_EQ(system(copy.c_str()), 0);  // NOLINT(cert-env33-c)
    ChangeSet set = Read();
    std::vector<Chosen> chosen;
    for (const workspace::Change& change : set.changes) chosen.push_back({&change, false});
    Result<sys::Child> child = sys::Clone3(0);
    ASSERT_TRUE(child);
    if (child->pid == 0) {
      int at = 0;
      step_ = [&] {
        if (at++ == n) _exit(9);
      };
      _exit(Apply(Context(), set, chosen, true) ? 0 : 1);
    }
    bool ended = false;
    int status = sys::WaitPidfd(child->pidfd.get(), true, &ended)->status;
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 1) << "step " << n;
    meta_ = *workspace::ReadMeta(dir_);
    Result<> recovered = Recover(Context());
    ASSERT_TRUE(recovered) << "step " << n << ": " << recovered.error().message;
    bool done = IsEnded(meta_.state);
    EXPECT_EQ(Snapshot(), done ? kApplied_ : before) << "step " << n;
    EXPECT_EQ(fs::exists(path_ + "/sb/layers"), !done) << "step " << n;
    if (done && n % 3 == 0) {
      Result<Applied> undone = Undo(Context());
      ASSERT_TRUE(undone) << "step " << n << ": " << undone.error().message;
      EXPECT_EQ(Snapshot(), before) << "step " << n;
    }
    steps = n;
    if (WEXITSTATUS(status) == 0) break;
    // In place, so that the tree stays the directory that was opened.
    std::string back = "cd " + path_ + " && rm -rf tree/* && cp -a saved/. tree/ && " +
                       "rm -rf state/* && cp -a saved-state/. state/";
    ASSERT_EQ(system(back.c_str()), 0);  // NOLINT(cert-env33-c)
    dir_.fd = *sys::OpenDir(AT_FDCWD, path_ + "/state/sb/" + kId);
    meta_ = *workspace::ReadMeta(dir_);
    // The copy has new times; for the next round it is the base.
    Open();
    meta_.id = kId;
    ASSERT_TRUE(workspace::WriteMeta(dir_, meta_, true));
  }
  EXPECT_GT(steps, 40);
}

// kill -9 at every step of an undo: what was replaced is never out of reach. Each round starts from
// where the last one ended, since an undo can be taken back too.
TEST_F(ApplyTest, KilledInAnUndoItCanStillBeTakenBack) {
  umask(0022);
  Prepare();
  const std::vector<std::string> before = Snapshot();
  ASSERT_TRUE(ApplyAll());
  int steps = 0;
  for (bool over = false; !over; ++steps) {
    over = RunKilled(steps, [&] { return Undo(Context()).has_value(); });
    meta_ = *workspace::ReadMeta(dir_);
    ASSERT_TRUE(Recover(Context())) << "step " << steps;
    std::vector<std::string> now = Snapshot();
    ASSERT_TRUE(now == before || now == kApplied_) << "step " << steps;
    Result<Applied> undone = Undo(Context());
    ASSERT_TRUE(undone) << "step " << steps << ": " << undone.error().message;
    EXPECT_THAT(undone->left, IsEmpty()) << "step " << steps;
    EXPECT_EQ(Snapshot(), now == before ? kApplied_ : before) << "step " << steps;
  }
  EXPECT_GT(steps, 40);
}

// An apply that was killed before it did anything leaves the one before it to be taken back.
TEST_F(ApplyTest, KilledInTheNextApplyTheLastCanBeTakenBack) {
  OpenAndRecord();
  PutUpper("a.txt", "uno\n");
  PutUpper("src/b.txt", "due\n");
  PutUpper("src/new", "new\n");
  const std::vector<std::string> before = Snapshot();
  int taken_back = 0;
  for (int n = 0;; ++n) {
    ChangeSet first = Read();
    ASSERT_TRUE(Apply(Context(), first, {{&first.changes[0], false}}, false)) << "step " << n;
    const std::vector<std::string> one = Snapshot();
    ASSERT_NE(one, before);
    ChangeSet rest = Read();
    bool over = RunKilled(n, [&] {
      return Apply(Context(), rest, {{&rest.changes[0], false}, {&rest.changes[1], false}}, false)
          .has_value();
    });
    meta_ = *workspace::ReadMeta(dir_);
    ASSERT_TRUE(Recover(Context())) << "step " << n;
    if (over || Snapshot() != one) break;  // carried forward
    Result<Applied> undone = Undo(Context());
    ASSERT_TRUE(undone) << "step " << n << ": " << undone.error().message;
    EXPECT_EQ(Snapshot(), before) << "step " << n;
    ++taken_back;
  }
  EXPECT_GT(taken_back, 5);
}

// Of two new names in one directory the first is applied, and killed once it is in place.
class KilledPartTest : public ApplyTest {
 protected:
  void KillOnceInPlace() {
    OpenAndRecord();
    PutUpper("src/new", "new\n");
    PutUpper("src/other", "other\n");
    ChangeSet set = Read();
    ASSERT_THAT(Lines(set), ElementsAre("A src/new", "A src/other"));
    Result<sys::Child> child = sys::Clone3(0);
    if (child->pid == 0) {
      step_ = [&] {
        if (fs::exists(Tree("src/new"))) _exit(9);
      };
      _exit(Apply(Context(), set, {{&set.changes[0], false}}, false) ? 0 : 1);
    }
    bool ended = false;
    ASSERT_EQ(WEXITSTATUS(sys::WaitPidfd(child->pidfd.get(), true, &ended)->status), 9);
    usleep(30'000);  // past the tick
  }
};

TEST_F(KilledPartTest, ItsOwnTracesAreNoSignOfTheUser) {
  KillOnceInPlace();
  ASSERT_TRUE(Recover(Context()));
  EXPECT_THAT(Lines(Read()), ElementsAre("A src/other"));
}

TEST_F(KilledPartTest, WhatTheUserDidMeanwhileStaysVisible) {
  KillOnceInPlace();
  PutTree("src/mine", "m\n");
  fs::remove(Tree("src/mine"));
  ASSERT_TRUE(Recover(Context()));
  EXPECT_THAT(Lines(Read()), ElementsAre("A src/other*"));
}

TEST_F(KilledPartTest, AlsoWhenTheRecoveryIsKilled) {
  KillOnceInPlace();
  PutTree("src/mine", "m\n");
  fs::remove(Tree("src/mine"));
  for (int n = 0; !RunKilled(n, [&] { return Recover(Context()).has_value(); }); ++n) {
    ASSERT_TRUE(workspace::ReadMeta(dir_)) << "step " << n;
  }
  EXPECT_THAT(Lines(Read()), ElementsAre("A src/other*"));
}

TEST_F(ApplyTest, AnEditBetweenReadingAndWritingIsNeverOverwritten) {
  OpenAndRecord();
  PutUpper("a.txt", "uno\n");
  PutUpper("new", "new\n");
  PutUpper("src/b.txt", "due\n");
  ChangeSet set = Read();
  std::vector<Chosen> chosen;
  for (const workspace::Change& change : set.changes) chosen.push_back({&change, false});
  PutTree("a.txt", "user\n");
  PutTree("new", "user's new\n");
  Result<Applied> applied = Apply(Context(), set, chosen, true);
  ASSERT_FALSE(applied);  // met before anything was written
  EXPECT_EQ(applied.error().rule, "publish.diverged");
  EXPECT_EQ(Read().changes.size(), 3U);

  fs::remove(Tree("new"));
  PutTree("a.txt", "one\n");
  ChangeSet fresh = Read();
  chosen.clear();
  for (const workspace::Change& change : fresh.changes) chosen.push_back({&change, true});
  // Now the last moments that a hook can reach, up to right before each rename.
  int at = 0;
  step_ = [&] {
    if (++at > 11) PutTree("a.txt", "user " + std::to_string(at) + "\n");
    if (at > 11) PutTree("new", "user\n");
  };
  applied = Apply(Context(), fresh, chosen, true);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_FALSE(applied->ended);
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("a.txt"), 100), "user " + std::to_string(at) + "\n");
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("new"), 100), "user\n");
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("src/b.txt"), 100), "due\n");
  ASSERT_EQ(applied->left.size(), 2U);
  EXPECT_EQ(applied->left[0].why, "diverged");
}

TEST_F(ApplyTest, ContentThatIsNotWhatWasReviewedIsRefusedAndNothingWritten) {
  OpenAndRecord();
  PutUpper("a.txt", "uno\n");
  PutUpper("z", "z\n");
  ChangeSet set = Read();
  std::vector<Chosen> chosen;
  for (const workspace::Change& change : set.changes) chosen.push_back({&change, false});
  PutUpper("z", "Z\n");
  std::vector<std::string> before = Snapshot();
  Result<Applied> applied = Apply(Context(), set, chosen, true);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().rule, "publish.digest");
  EXPECT_EQ(Snapshot(), before);
}

TEST_F(ApplyTest, PartIsRememberedTheRestStaysPending) {
  OpenAndRecord();
  PutUpper("a.txt", "uno\n");
  PutUpper("src/b.txt", "due\n");
  PutUpper("src/new", "new\n");
  ChangeSet set = Read();
  ASSERT_EQ(set.changes[0].path, "a.txt");
  Result<Applied> applied = Apply(Context(), set, {{&set.changes[0], false}}, false);
  ASSERT_TRUE(applied);
  EXPECT_FALSE(applied->ended);
  // The root's ctime moved by Bawn's own rename: that is not the user's doing.
  EXPECT_THAT(Lines(Read()), ElementsAre("M src/b.txt", "A src/new"));
  PutUpper("a.txt", "uno, continued\n");  // `run --in` went on: the base is what apply left
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt", "M src/b.txt", "A src/new"));
  PutTree("a.txt", "user\n");
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt*", "M src/b.txt", "A src/new"));
}

// O-13 and RT-24: links are flipped in place of a directory while apply writes below it.
TEST_F(ApplyTest, RacingLinksNeverReachOutside) {
  const char* set_flips = getenv("BAWN_TEST_FLIPS");
  int flips = set_flips != nullptr ? atoi(set_flips) : 3'000;
  fs::create_directories(path_ + "/outside");
  OpenAndRecord();
  for (int i = 0; i < 20; ++i) PutUpper("src/new" + std::to_string(i), "payload");
  fs::create_symlink(path_ + "/outside", Tree("spare"));
  {  // control: a writer that follows links does reach it
    fs::create_symlink("../outside", Tree("control"));
    std::ofstream(Tree("control/reached")) << "x";
    ASSERT_TRUE(fs::remove(path_ + "/outside/reached"));
    fs::remove(Tree("control"));
  }
  std::atomic<bool> stop = false;
  std::atomic<int> rounds = 0;
  UniqueFd tree = *sys::OpenDir(AT_FDCWD, path_ + "/tree");
  std::thread flipper([&] {
    for (int i = 0; i < flips || rounds < 8; ++i) {
      (void)sys::Renameat2(tree.get(), "src", tree.get(), "spare", 2);  // RENAME_EXCHANGE
    }
    stop = true;
  });
  while (!stop) {
    Result<ChangeSet> set = workspace::ReadChanges(dir_, meta_, {});
    if (!set) continue;
    std::vector<Chosen> chosen;
    for (const workspace::Change& change : set->changes) chosen.push_back({&change, true});
    (void)Apply(Context(), *set, chosen, false);  // may fail; must not leave the tree
    ++rounds;
    for (int i = 0; i < 20; ++i)
      PutUpper("src/new" + std::to_string(i), std::to_string(rounds.load()));
  }
  flipper.join();
  EXPECT_TRUE(fs::is_empty(path_ + "/outside"));
}

TEST_F(ApplyTest, OneApplyPerTreeAtATime) {
  OpenAndRecord();
  PutUpper("a.txt", "uno\n");
  UniqueFd tree = *sys::OpenDir(AT_FDCWD, path_ + "/tree");
  Result<TreeLock> held = TreeLock::Take(state_, tree.get());
  ASSERT_TRUE(held);
  Result<sys::Child> child = sys::Clone3(0);
  if (child->pid == 0) {
    Result<TreeLock> second = TreeLock::Take(state_, tree.get());
    _exit(!second && second.error().rule == "publish.lock" ? 0 : 1);
  }
  bool ended = false;
  EXPECT_EQ(sys::WaitPidfd(child->pidfd.get(), true, &ended)->status, 0);
}

}  // namespace
}  // namespace bawn::publish
