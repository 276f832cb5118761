#include "workspace/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sha256.h"
#include "sys/files.h"
#include "workspace/remembered.h"
#include "workspace/test_sandbox.h"

namespace bawn::workspace {
namespace {

using testing::ElementsAre;

class ChangesTest : public SandboxTest {};

TEST_F(ChangesTest, AddedModifiedDeletedAndNothingElse) {
  Open();
  PutUpper("a.txt", "uno\n");
  PutUpper("src/new.txt", "new\n");
  PutUpper("src/c.txt", "three\n");  // copied up, equal: E-30
  Whiteout("src/b.txt");
  Whiteout("src/never-there");
  PutUpper(".git/index", "the payload's own git directory");
  ChangeSet set = Read();
  EXPECT_THAT(Lines(set), ElementsAre("M a.txt", "D src/b.txt", "A src/new.txt"));
  EXPECT_EQ(set.copied_up_bytes, 6U);
  EXPECT_EQ(set.changes[0].new_sha256, Sha256Hex("uno\n"));
  EXPECT_FALSE(set.base_changed_since_open);
  EXPECT_EQ(set.digest, DigestOf(set.changes));
  ChangeSet names = Read({.hash = false});
  EXPECT_EQ(Lines(names), Lines(set));
  EXPECT_EQ(names.digest, "");
}

TEST_F(ChangesTest, TheDigestCoversPathKindTypeModeAndContent) {
  Open();
  PutUpper("a.txt", "uno\n");
  std::string first = Read().digest;
  EXPECT_EQ(Read().digest, first);
  PutUpper("a.txt", "due\n");
  std::string content = Read().digest;
  fs::permissions(Upper("a.txt"), fs::perms(0755));
  std::string mode = Read().digest;
  fs::rename(Upper("a.txt"), Upper("d.txt"));
  std::string path = Read().digest;
  fs::remove(Upper("d.txt"));
  fs::create_symlink("due\n", Upper("d.txt"));
  std::string type = Read().digest;
  std::vector<std::string> all = {first, content, mode, path, type};
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

TEST_F(ChangesTest, DirectoriesOpaqueEmptyRemovedAndReplaced) {
  PutTree("old/x/1", "1");
  PutTree("old/x/2", "2");
  PutTree("gone/deep/3", "3");
  PutTree("dir/4", "4");
  PutTree("file", "5");
  Open();
  Opaque("old");
  PutUpper("old/x/2", "2");  // equal although the directory was replaced
  PutUpper("old/y", "new");
  Whiteout("gone");
  PutUpper("dir", "a file now");
  PutUpper("file/inner", "a directory now");
  fs::create_directories(Upper("empty/within"));
  EXPECT_THAT(Lines(Read()), ElementsAre("M dir(directory>file)", "D dir/4", "A empty/within",
                                         "M file(file>directory)", "A file/inner", "D gone",
                                         "D gone/deep", "D gone/deep/3", "D old/x/1", "A old/y"));
}

TEST_F(ChangesTest, ModesLinksAndSpecialFiles) {
  fs::create_symlink("a.txt", Tree("link"));
  fs::create_symlink("a.txt", Tree("same"));
  Open();
  PutUpper("a.txt", "one\n");
  fs::permissions(Upper("a.txt"), fs::perms(0755));
  PutUpper("suid", "x");
  ASSERT_EQ(chmod(Upper("suid").c_str(), 04755), 0);
  PutUpper("src/c.txt", "three\n");
  ASSERT_EQ(chmod(Upper("src/c.txt").c_str(), 04644), 0);  // above 0777 only: nothing carries that
  ASSERT_EQ(chmod(Tree("src/c.txt").c_str(), 0644), 0);
  fs::create_symlink("src/b.txt", Upper("link"));
  fs::create_symlink("a.txt", Upper("same"));
  ASSERT_TRUE(sys::Mknodat(AT_FDCWD, Upper("fifo"), S_IFIFO | 0600, 0));
  ChangeSet set = Read();
  EXPECT_THAT(Lines(set), ElementsAre("M a.txt", "A fifo!special_file", "M link", "A suid"));
  EXPECT_EQ(set.changes[0].new_mode, 0755U);
  EXPECT_EQ(set.changes[3].new_mode, 04755U);
  EXPECT_EQ(*ReadNew(set, set.changes[2], 100), "src/b.txt");
  EXPECT_EQ(*ReadOld(set, set.changes[2], 100), "a.txt");
  EXPECT_EQ(OpenNew(set, set.changes[1]).error().kind, "special_file");
  EXPECT_EQ(OpenNew(set, set.changes[2]).error().kind, "symlink");
}

TEST_F(ChangesTest, ModeZeroIsReadByTheOwnersRightAndPutBack) {
  Open();
  PutUpper("shut/inner/secret", "bytes");
  ASSERT_EQ(chmod(Upper("shut/inner/secret").c_str(), 0), 0);
  ASSERT_EQ(chmod(Upper("shut/inner").c_str(), 0), 0);
  ASSERT_EQ(chmod(Upper("shut").c_str(), 0), 0);
  ChangeSet set = Read();
  ASSERT_THAT(Lines(set), ElementsAre("A shut/inner/secret"));
  EXPECT_EQ(set.changes[0].new_mode, 0U);
  EXPECT_EQ(set.changes[0].new_sha256, Sha256Hex("bytes"));
  EXPECT_EQ(*ReadNew(set, set.changes[0], 5), "bytes");
  EXPECT_EQ(ReadNew(set, set.changes[0], 4).error().kind, "read_limit");
  EXPECT_EQ(sys::Fstatat(AT_FDCWD, Upper("shut"))->mode & 07777, 0U);
  ASSERT_EQ(chmod(Upper("shut").c_str(), 0700), 0);
  EXPECT_EQ(sys::Fstatat(AT_FDCWD, Upper("shut/inner"))->mode & 07777, 0U);
  ASSERT_EQ(chmod(Upper("shut/inner").c_str(), 0700), 0);
  EXPECT_EQ(sys::Fstatat(AT_FDCWD, Upper("shut/inner/secret"))->mode & 07777, 0U);
}

TEST_F(ChangesTest, FileErrorsAreDistinct) {
  PutTree("dir/x", "x");
  Open();
  PutUpper("n", "new");
  ChangeSet set = Read();
  auto open = [&](const std::string& path) {
    Change change;
    change.path = path;
    return std::string(OpenOld(set, change).error().kind);
  };
  EXPECT_EQ(open("missing"), "not_found");
  EXPECT_EQ(open("a.txt/below"), "not_a_directory");
  EXPECT_EQ(open("dir"), "is_a_directory");
  fs::create_symlink("a.txt", Tree("link"));
  EXPECT_EQ(open("link"), "symlink");
  ASSERT_TRUE(sys::Mknodat(AT_FDCWD, Tree("fifo"), S_IFIFO | 0600, 0));
  EXPECT_EQ(open("fifo"), "special_file");
  if (geteuid() != 0) {
    ASSERT_EQ(chmod(Tree("a.txt").c_str(), 0), 0);
    EXPECT_EQ(open("a.txt"), "denied");
  }
}

// RT-09. The positive control is the first expectation: untouched, nothing diverges.
TEST_F(ChangesTest, WhatTheUserTouchedSinceOpenHasDiverged) {
  PutTree("moved/d.txt", "four\n");
  PutTree("other/e.txt", "five\n");
  Open();
  PutUpper("a.txt", "uno\n");
  PutUpper("moved/d.txt", "quattro\n");
  PutUpper("other/new", "new");
  PutUpper("src/b.txt", "due\n");
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt", "M moved/d.txt", "A other/new", "M src/b.txt"));
  PutTree("src/b.txt", "two and a half\n");  // in place: only this path
  ChangeSet set = Read();
  EXPECT_THAT(Lines(set), ElementsAre("M a.txt", "M moved/d.txt", "A other/new", "M src/b.txt*"));
  EXPECT_TRUE(set.base_changed_since_open);
  // `mv other gone; mv fresh other`: old inodes with old times, but the parent tells.
  PutTree("other/another", "made since");
  EXPECT_THAT(Lines(Read()),
              ElementsAre("M a.txt", "M moved/d.txt", "A other/new*", "M src/b.txt*"));
  fs::rename(Tree("moved"), Tree("aside"));
  fs::rename(Tree("aside"), Tree("moved"));
  EXPECT_THAT(Lines(Read()),
              ElementsAre("M a.txt*", "M moved/d.txt*", "A other/new*", "M src/b.txt*"));
}

TEST_F(ChangesTest, ASteppedClockLeavesNothingDecided) {
  Open();
  PutUpper("a.txt", "uno\n");
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt"));
  meta_.boottime_offset_ns += 3'600'000'000'000;  // the clock was set back by an hour since T
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt*"));
}

TEST_F(ChangesTest, CoveredPathsAreProtected) {
  PutTree(".env", "SECRET=1");
  PutTree("conf/.env", "SECRET=2");
  Put("initial/.env", "");
  Put("initial/conf/.env", "");
  Put("initial/sub/.git", "gitdir: elsewhere");
  PutTree("sub/.git", "gitdir: ../.git/modules/sub");
  meta_.covered = {".env", "conf/.env"};
  Open();
  PutUpper(".env", "");  // copied up by a chmod and back
  PutUpper("sub/.git", "gitdir: /tmp/evil");
  EXPECT_THAT(Lines(Read()), ElementsAre());
  PutUpper(".env", "SECRET=mine");
  Whiteout("conf");
  EXPECT_THAT(Lines(Read()), ElementsAre("M .env!protected", "D conf", "D conf/.env!protected"));
}

TEST_F(ChangesTest, AWholeCopyIsCompared) {
  ASSERT_TRUE(sys::Mknodat(AT_FDCWD, Tree("sock"), S_IFIFO | 0600, 0));
  PutTree("same-size", "aaaa");
  Open();
  fs::copy(Tree("a.txt"), Upper("a.txt"));
  PutUpper("src/b.txt", "two\n");
  PutUpper("src/new", "n");
  PutUpper("same-size", "bbbb");
  // The payload put the time back: only reading tells (or the ctime, which it cannot set).
  int64_t mtime = sys::Fstatat(AT_FDCWD, Tree("same-size"))->mtime_ns;
  ASSERT_TRUE(sys::Utimensat(AT_FDCWD, Upper("same-size"), mtime, 0));
  meta_.rung = "copy";
  EXPECT_THAT(Lines(Read()), ElementsAre("M same-size", "D src/c.txt", "A src/new"));
  meta_.extra = JsonObject();
  (*meta_.extra.AsObject())["copied_at_ns"] = meta_.opened_at_ns;
  EXPECT_THAT(Lines(Read()), ElementsAre("M same-size", "D src/c.txt", "A src/new"));
}

TEST_F(ChangesTest, WhatWasCarriedOutIsNotPendingUntilItChangesAgain) {
  Open();
  PutUpper("a.txt", "uno\n");
  PutUpper("src/b.txt", "due\n");
  Whiteout("src/c.txt");
  ChangeSet set = Read();
  Remembered remembered;
  for (const Change& change : set.changes) {
    if (change.path == "src/b.txt") continue;
    Result<sys::FileStat> st = sys::Fstatat(AT_FDCWD, Upper(change.path));
    remembered.carried[change.path] = {Fingerprint(change), st->ino, st->ctime_ns};
  }
  ASSERT_TRUE(WriteRemembered(dir_, remembered));
  EXPECT_THAT(Lines(Read()), ElementsAre("M src/b.txt"));
  EXPECT_THAT(Lines(Read({.hash = false})), ElementsAre("M src/b.txt"));
  PutUpper("a.txt", "uno\n");  // written again, the same: the digest still matches
  EXPECT_THAT(Lines(Read()), ElementsAre("M src/b.txt"));
  PutUpper("a.txt", "UNO\n");
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt", "M src/b.txt"));
}

TEST_F(ChangesTest, WhatApplyLeftHasNotDiverged) {
  Open();
  PutUpper("a.txt", "uno\n");
  PutTree("a.txt", "applied\n");
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt*"));
  sys::FileStat st = *sys::Fstatat(AT_FDCWD, Tree("a.txt"));
  Remembered remembered;
  remembered.left["a.txt"] = {st.ino, st.ctime_ns};
  ASSERT_TRUE(WriteRemembered(dir_, remembered));
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt"));
  PutTree("a.txt", "edited after\n");
  EXPECT_THAT(Lines(Read()), ElementsAre("M a.txt*"));
}

TEST_F(ChangesTest, NamesAreBytesAndDepthIsBoundedByThePath) {
  Open();
  PutUpper("new\nline\xff", "x");
  UniqueFd at = *sys::OpenDir(AT_FDCWD, Upper(""));
  UniqueFd shut;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(sys::Mkdirat(at.get(), "d", 0700));
    at = *sys::Openat2(at.get(), "d", O_PATH | O_DIRECTORY);
    if (i == 100) shut = *sys::Dup(at.get());
    if (i == 1500) ASSERT_TRUE(sys::WriteFileAtomic(at.get(), "f", "deep", 0600, false));
  }
  ASSERT_TRUE(sys::FchmodPath(shut.get(), 0));
  ChangeSet set = Read();
  ASSERT_EQ(set.changes.size(), 3U);
  EXPECT_EQ(set.changes[1].path.size(), 1501U * 2 + 1);
  EXPECT_EQ(*ReadNew(set, set.changes[1], 10), "deep");
  EXPECT_EQ(set.changes[0].problem, "path_too_long");
  EXPECT_EQ(set.changes[0].path.size(), 4097U);
  EXPECT_EQ(set.changes[2].path, "new\nline\xff");
}

TEST_F(ChangesTest, TheNumberOfChangesIsBounded) {
  Open();
  PutUpper("x", "1");
  PutUpper("y", "2");
  EXPECT_EQ(Read({.changes_max = 2}).changes.size(), 2U);
  Result<ChangeSet> over = ReadChanges(dir_, meta_, {.changes_max = 1});
  EXPECT_EQ(over.error().code, ErrorCode::kResourceExhausted);
}

TEST_F(ChangesTest, AnotherTreeInItsPlaceIsRefused) {
  Open();
  fs::rename(path_ + "/tree", path_ + "/aside");
  fs::create_directory(path_ + "/tree");
  EXPECT_EQ(ReadChanges(dir_, meta_, {}).error().rule, "workspace.replaced");
  fs::remove(path_ + "/tree");
  fs::create_symlink("aside", path_ + "/tree");
  EXPECT_EQ(ReadChanges(dir_, meta_, {}).error().rule, "workspace.replaced");
  fs::remove_all(path_ + "/sb/layers");
  EXPECT_EQ(ReadChanges(dir_, meta_, {}).error().rule, "workspace.no_changes");
}

// The real kernel's overlay writes the layer: what it leaves is read as what was done.
TEST_F(ChangesTest, ARealOverlay) {
  PutTree("dir/one", "1");
  PutTree("dir/two", "2");
  PutTree("gone/x", "x");
  fs::create_directory(path_ + "/merged");
  Open();
  std::string command = "cd " + path_ +
                        " && unshare -Urm sh -ec '"
                        "mount -t overlay overlay -o userxattr,lowerdir=sb/initial:tree,"
                        "upperdir=sb/layers/0/upper,workdir=sb/layers/0/work merged; cd merged; "
                        "echo changed >> a.txt; touch src/b.txt; chmod +x src/c.txt; rm -r gone; "
                        "rm -r dir; mkdir dir; echo 2 > dir/three; ln a.txt hard; "
                        "echo x > .git/index; mv src/b.txt src/renamed'";
  ASSERT_EQ(system(command.c_str()), 0);  // NOLINT(cert-env33-c)
  EXPECT_THAT(Lines(Read()),
              ElementsAre("M a.txt", "D dir/one", "A dir/three", "D dir/two", "D gone", "D gone/x",
                          "A hard", "D src/b.txt", "M src/c.txt", "A src/renamed"));
}

}  // namespace
}  // namespace bawn::workspace
