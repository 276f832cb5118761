#include "git/repo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "git/diff.h"
#include "git/test_repo.h"

namespace bawn::git {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const Repo::Signature kWho{
    .name = "Ann", .email = "ann@example.org", .seconds = 1700000000, .offset_minutes = -90};

std::string LooseObjects(const TestRepo& repo) {
  return repo.Line("count-objects | cut -d' ' -f1");
}

// One commit that adds `count` files to the root tree, as a publish makes it.
Oid AddFiles(Repo& repo, size_t count, const std::string& salt) {
  std::vector<TreeEntry> entries;
  for (size_t i = 0; i < count; ++i) {
    std::string content = salt + " file " + std::to_string(i) + "\n";
    for (size_t line = 0; line < 60; ++line)
      content += "some line of ordinary text " + std::to_string(i * line) + "\n";
    entries.push_back({.name = "f" + std::to_string(i), .oid = *repo.AddBlob(content)});
  }
  return *repo.AddCommit(*repo.AddTree(entries), {}, kWho, kWho, "many\n");
}

TEST(RepoOpenTest, ReadsBlobsTreesAndCommitsThatGitMade) {
  const TestRepo test;
  test.Write("dir/sub/a.txt", "hello\n");
  test.Write("run.sh", "#!/bin/sh\n");
  test.Shell("chmod +x tree/run.sh; ln -s run.sh tree/link");
  const Oid commit = test.CommitAll();
  Repo repo = test.Open();
  const Oid tree = *repo.TreeOfCommit(commit);
  EXPECT_EQ(tree, test.Line("rev-parse HEAD^{tree}"));
  const auto entry = repo.FindInTree(tree, "dir/sub/a.txt");
  ASSERT_TRUE(entry && *entry);
  EXPECT_EQ((*entry)->mode, FileMode::kFile);
  EXPECT_EQ(*repo.ReadBlob((*entry)->oid, 6), "hello\n");
  EXPECT_EQ(repo.ReadBlob((*entry)->oid, 5).error().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(*repo.BlobSize((*entry)->oid), 6u);
  EXPECT_EQ((*repo.FindInTree(tree, "run.sh"))->mode, FileMode::kExecutable);
  EXPECT_EQ((*repo.FindInTree(tree, "link"))->mode, FileMode::kSymlink);
  EXPECT_EQ((*repo.FindInTree(tree, "dir"))->mode, FileMode::kTree);
  EXPECT_EQ(*repo.FindInTree(tree, "dir/absent"), std::nullopt);
  EXPECT_EQ(*repo.FindInTree(tree, "run.sh/below"), std::nullopt);
  EXPECT_EQ(repo.ReadTree(tree)->size(), 3u);
  EXPECT_EQ(repo.ReadBlob(tree, 100).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(repo.ReadBlob("../../etc", 100).error().code, ErrorCode::kInvalidArgument);
}

TEST(RepoOpenTest, HashBlobNeedsNoRepository) {
  InitGit();
  EXPECT_EQ(Repo::HashBlob(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(Repo::HashBlob("what is up, doc?"), "bd9dbf5aae1a3862dd1526723246b20206e5fc37");
}

TEST(RepoOpenTest, NoDiscoveryFromASubdirectory) {
  const TestRepo test;
  test.Write("sub/x", "x");
  EXPECT_FALSE(Repo::Open(test.tree()));
  EXPECT_FALSE(Repo::Open(test.tree() + "/sub"));
  EXPECT_TRUE(Repo::Open(test.git_dir()));
}

TEST(RepoOpenTest, AcceptsExtensionsThatChangeNothingHere) {
  const TestRepo test;
  const Oid commit = test.CommitAll();
  test.Config("core.repositoryformatversion", "1");
  for (const char* extension : {"worktreeConfig", "preciousObjects", "relativeWorktrees"}) {
    test.Config(std::string("extensions.") + extension, "true");
  }
  test.Config("extensions.partialClone", "origin");
  test.Config("extensions.objectFormat", "sha1");
  test.Write(".git/config.worktree", "[core]\n\tautocrlf = input\n");
  auto repo = Repo::Open(test.git_dir());
  ASSERT_TRUE(repo) << repo.error().message;
  EXPECT_TRUE(repo->TreeOfCommit(commit));
  EXPECT_EQ(repo->ConfigString("core.autocrlf")->value_or(""), "input");
  EXPECT_EQ(*repo->ToGit(commit, "x", "a\r\n"), "a\n");
}

TEST(RepoOpenTest, NamesWhatItDoesNotSupport) {
  const auto error_with = [](const std::string& key, const std::string& value) {
    const TestRepo test;
    test.Config("core.repositoryformatversion", "1");
    test.Config(key, value);
    const auto repo = Repo::Open(test.git_dir());
    EXPECT_FALSE(repo);
    if (repo) return Error{};
    EXPECT_EQ(repo.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(repo.error().rule, "git.unsupported");
    EXPECT_THAT(repo.error().hint, HasSubstr("bawn apply"));
    return repo.error();
  };
  EXPECT_THAT(error_with("extensions.objectFormat", "sha256").message, HasSubstr("sha256"));
  EXPECT_THAT(error_with("extensions.refStorage", "reftable").message, HasSubstr("reftable"));
  EXPECT_THAT(error_with("extensions.shinyNew", "true").message, HasSubstr("shinynew"));
  EXPECT_THAT(error_with("core.repositoryformatversion", "2").message, HasSubstr("format 2"));
}

TEST(RepoOpenTest, RealSha256RepositoryIsRefusedByName) {
  const TestRepo test;
  test.Shell("git init -q --object-format=sha256 other");
  EXPECT_THAT(Repo::Open(test.root() + "/other/.git").error().message, HasSubstr("sha256"));
}

TEST(RepoOpenTest, LinkedWorktreeWithRelativePointersSharesObjectsAndRefs) {
  const TestRepo test;
  const Oid commit = test.CommitAll();
  test.Git("worktree add -q ../linked -b side");
  test.Config("core.repositoryformatversion", "1");
  test.Config("extensions.relativeWorktrees", "true");
  test.Shell("echo ../../../../linked/.git > tree/.git/worktrees/linked/gitdir");
  auto repo = Repo::Open(test.git_dir() + "/worktrees/linked");
  ASSERT_TRUE(repo) << repo.error().message;
  EXPECT_TRUE(repo->TreeOfCommit(commit));
  EXPECT_EQ(*repo->ReadRef("refs/heads/main"), commit);
  EXPECT_EQ(*repo->ReadRef("HEAD"), commit);
  EXPECT_THAT(*repo->CheckedOutAt("refs/heads/side"), HasSubstr("linked"));
  EXPECT_THAT(*repo->CheckedOutAt("refs/heads/main"), test.tree());
  const Oid made = AddFiles(*repo, 3, "w");
  ASSERT_TRUE(repo->WritePack("bawn-test"));
  ASSERT_TRUE(repo->CompareAndSwapRef("refs/heads/bawn/x", std::string(kZeroOid), made, "m"));
  test.Git(
      "config --file .git/config --unset extensions.relativeWorktrees");  // newer than this git
  EXPECT_EQ(test.Line("rev-parse bawn/x"), made);
  EXPECT_THAT(test.Git("reflog bawn/x"), HasSubstr("m"));
}

TEST(RepoOpenTest, BareRepositoryWithWorktrees) {
  const TestRepo test;
  const Oid commit = test.CommitAll();
  test.Shell("git clone -q --bare tree bare.git && git -C bare.git worktree add -q ../w main 2>&1");
  auto repo = Repo::Open(test.root() + "/bare.git/worktrees/w");
  ASSERT_TRUE(repo) << repo.error().message;
  EXPECT_EQ(*repo->ReadRef("HEAD"), commit);
  EXPECT_EQ(*repo->CheckedOutAt("refs/heads/main"), test.root() + "/w");
  EXPECT_EQ(*repo->CheckedOutAt("refs/heads/other"), "");
}

TEST(RepoOpenTest, ObjectsOfAlternatesAreRead) {
  const TestRepo test;
  test.Write("a", "a");
  const Oid commit = test.CommitAll();
  test.Shell("git clone -q --shared tree one && git clone -q --reference one --shared one two");
  auto repo = Repo::Open(test.root() + "/two/.git");
  ASSERT_TRUE(repo) << repo.error().message;
  EXPECT_TRUE(repo->TreeOfCommit(commit));
}

TEST(RepoOpenTest, AMissingObjectOfAPartialCloneIsNamedAndNotFetched) {
  const TestRepo test;
  test.Write("dir/a", "content");
  const Oid commit = test.CommitAll();
  test.Git("config uploadpack.allowFilter true");
  test.Shell("git clone -q --filter=tree:0 --no-checkout file://$PWD/tree partial");
  auto repo = Repo::Open(test.root() + "/partial/.git");
  ASSERT_TRUE(repo) << repo.error().message;
  const auto found = repo->FindInTree(*repo->TreeOfCommit(commit), "dir/a");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().rule, "git.missing_object");
}

TEST(PackTest, OnePackAndNoLooseObjects) {
  const TestRepo test;
  const Oid base = test.CommitAll();
  const std::string loose_before = LooseObjects(test);
  Repo repo = test.Open();
  const Oid blob = *repo.AddBlob("data");
  const Oid tree = *repo.AddTree(
      {{.name = "b.c", .oid = blob},
       {.name = "b", .mode = FileMode::kTree, .oid = *repo.AddTree({{.name = "x", .oid = blob}})},
       {.name = "b-", .mode = FileMode::kExecutable, .oid = blob},
       {.name = "l", .mode = FileMode::kSymlink, .oid = blob}});
  const Oid commit = *repo.AddCommit(tree, {base}, kWho, kWho, "subject\n\nbody\n");
  EXPECT_EQ(*repo.ReadBlob(blob, 10), "data");  // readable before it is written
  EXPECT_EQ(repo.ReadTree(tree)->size(), 4u);
  ASSERT_TRUE(repo.WritePack("bawn-test"));
  EXPECT_EQ(*repo.ReadBlob(blob, 10), "data");
  EXPECT_EQ(LooseObjects(test), loose_before);
  EXPECT_EQ(test.Line("count-objects -v | grep -c 'packs: 1'"), "1");
  test.Git("fsck --strict --no-dangling 2>&1");
  EXPECT_EQ(test.Line("ls-tree --name-only " + commit), "b-\nb.c\nb\nl");
  EXPECT_EQ(test.Line("log -1 --format='%an|%ae|%ad|%B' --date=raw " + commit),
            "Ann|ann@example.org|1700000000 -0130|subject\n\nbody");
  ASSERT_TRUE(repo.WritePack("bawn-test"));  // nothing collected: nothing written
  EXPECT_EQ(test.Line("count-objects -v | grep -c 'packs: 1'"), "1");
}

// Sizes around every step of the entry header (4, 11 and 18 bits), contents of every kind, many
// fan-out rows; judged by git itself.
TEST(PackTest, GitReadsEveryObjectOfEverySize) {
  const TestRepo test;
  const Oid base = test.CommitAll();
  for (const char* level : {"", "0", "9"}) {
    if (*level != '\0') test.Config("core.compression", level);
    Repo repo = test.Open();
    std::vector<TreeEntry> entries;
    std::string noise;
    for (uint32_t i = 0, seed = 1; i < 300'000; ++i) {
      seed = seed * 1664525 + 1013904223;
      noise += static_cast<char>(seed >> 24);
    }
    for (const size_t size :
         {0UL, 1UL, 15UL, 16UL, 17UL, 2047UL, 2048UL, 2049UL, 262143UL, 262144UL, 300000UL}) {
      const std::string name = std::string("f") + level + "." + std::to_string(size);
      entries.push_back({.name = name, .oid = *repo.AddBlob(level + noise.substr(0, size))});
    }
    for (int i = 0; i < 600; ++i) {
      const std::string name = std::string("g") + level + "." + std::to_string(i);
      entries.push_back({.name = name, .oid = *repo.AddBlob(name)});
    }
    const Oid commit = *repo.AddCommit(*repo.AddTree(entries), {base}, kWho, kWho, "m\n");
    ASSERT_TRUE(repo.WritePack("bawn-test"));
    test.Git("fsck --strict --no-dangling --full 2>&1");
    test.Shell("cd tree && for p in .git/objects/pack/*.idx; do git verify-pack $p; done");
    for (const TreeEntry& entry : entries) {
      if (entry.name.starts_with('g')) continue;
      EXPECT_EQ(test.Line("cat-file blob " + entry.oid + " | git hash-object --stdin"), entry.oid);
      const std::string size = entry.name.substr(entry.name.find('.') + 1);
      EXPECT_EQ(test.Line("cat-file -s " + entry.oid),
                std::to_string(std::stoul(size) + std::string(level).size()));
    }
    EXPECT_EQ(test.Line("ls-tree --name-only " + commit + " | wc -l"), "611");
  }
  test.Config("core.compression", "10");
  Repo repo = test.Open();
  EXPECT_TRUE(repo.AddBlob("new"));
  EXPECT_FALSE(repo.WritePack("bawn-test"));
  EXPECT_EQ(test.Shell("ls tree/.git/objects | grep bawn || true"), "");
}

TEST(PackTest, WhatTheRepositoryHasIsNotStoredAgain) {
  const TestRepo test;
  test.Write("a", "known");
  test.CommitAll();
  Repo repo = test.Open();
  EXPECT_TRUE(repo.AddBlob("known"));
  ASSERT_TRUE(repo.WritePack("bawn-test"));
  EXPECT_EQ(test.Line("count-objects -v | grep -c 'packs: 0'"), "1");
}

TEST(PackTest, RefusesNamesAndSignaturesThatGitCouldNotHold) {
  const TestRepo test;
  Repo repo = test.Open();
  const Oid blob = *repo.AddBlob("x");
  for (const std::string name : {"", ".", "..", ".git", "a/b"}) {
    EXPECT_FALSE(repo.AddTree({{.name = name, .oid = blob}})) << name;
  }
  EXPECT_FALSE(repo.AddTree({{.name = "a", .oid = blob},
                             {.name = "a.b", .oid = blob},
                             {.name = "a", .mode = FileMode::kTree, .oid = blob}}));
  EXPECT_TRUE(repo.AddTree({{.name = ".gitx", .oid = blob}}));
  const Oid tree = *repo.AddTree({});
  Repo::Signature bad = kWho;
  bad.name = "a\ncommitter b";
  EXPECT_FALSE(repo.AddCommit(tree, {}, bad, kWho, "m"));
  EXPECT_FALSE(repo.AddCommit(tree, {}, kWho, kWho, std::string_view("a\0b", 3)));
  EXPECT_TRUE(repo.AddCommit(tree, {}, kWho, kWho, "m"));
}

TEST(PackTest, ElevenHundredFiftyFilesInUnderASecond) {
  const TestRepo test;
  test.CommitAll();
  Repo repo = test.Open();
  const auto start = std::chrono::steady_clock::now();
  const Oid commit = AddFiles(repo, 1150, "speed");
  ASSERT_TRUE(repo.WritePack("bawn-test"));
  const auto took = std::chrono::steady_clock::now() - start;
  RecordProperty("ms", std::to_string(took / std::chrono::milliseconds(1)));
  std::printf("1,150 files: %ld ms\n", static_cast<long>(took / std::chrono::milliseconds(1)));
  EXPECT_LT(took, std::chrono::seconds(1));  // the target is 300 ms on an idle machine
  EXPECT_EQ(test.Line("ls-tree " + commit + " | wc -l"), "1150");
}

class RefTest : public testing::Test {
 protected:
  void SetUp() override {
    first_ = test_.CommitAll("one");
    second_ = test_.CommitAll("two");
    third_ = test_.CommitAll("three");
  }
  std::string Rule(const Result<>& result) { return result ? "ok" : result.error().rule; }
  TestRepo test_;
  Oid first_, second_, third_;
  const Oid zero_{kZeroOid};
};

TEST_F(RefTest, CompareAndSwapMovesOnlyFromTheExpectedValue) {
  Repo repo = test_.Open();
  const std::string ref = "refs/heads/bawn/fix";
  EXPECT_EQ(Rule(repo.CompareAndSwapRef(ref, first_, second_, "m")), "git.ref_moved");
  EXPECT_EQ(Rule(repo.CompareAndSwapRef(ref, zero_, first_, "bawn: publish")), "ok");
  EXPECT_EQ(Rule(repo.CompareAndSwapRef(ref, zero_, second_, "m")), "git.ref_exists");
  EXPECT_EQ(Rule(repo.CompareAndSwapRef(ref, third_, second_, "m")), "git.ref_moved");
  EXPECT_EQ(*repo.ReadRef(ref), first_);
  EXPECT_EQ(Rule(repo.CompareAndSwapRef(ref, first_, second_, "m2")), "ok");
  EXPECT_EQ(test_.Line("rev-parse bawn/fix"), second_);
  EXPECT_THAT(test_.Git("reflog show bawn/fix"),
              testing::AllOf(HasSubstr("bawn: publish"), HasSubstr("m2")));
  // Packed refs are compared as well.
  test_.Git("pack-refs --all");
  EXPECT_EQ(Rule(repo.CompareAndSwapRef(ref, zero_, third_, "m")), "git.ref_exists");
  EXPECT_EQ(Rule(repo.CompareAndSwapRef(ref, second_, third_, "m")), "ok");
  EXPECT_EQ(repo.CompareAndSwapRef(ref, first_, second_, "m").error().code, ErrorCode::kConflict);
}

TEST_F(RefTest, DirectoryAndFileConflictsAreNamedBothWays) {
  Repo repo = test_.Open();
  EXPECT_EQ(Rule(repo.CompareAndSwapRef("refs/heads/main/sub", zero_, first_, "m")),
            "git.ref_directory");
  ASSERT_EQ(Rule(repo.CompareAndSwapRef("refs/heads/bawn/x", zero_, first_, "m")), "ok");
  EXPECT_EQ(Rule(repo.CompareAndSwapRef("refs/heads/bawn", zero_, first_, "m")),
            "git.ref_directory");
  test_.Git("pack-refs --all");
  EXPECT_EQ(Rule(repo.CompareAndSwapRef("refs/heads/bawn", zero_, first_, "m")),
            "git.ref_directory");
}

TEST_F(RefTest, AForeignLockIsWaitedForAndThenAConflict) {
  Repo repo = test_.Open();
  test_.Write(".git/refs/heads/busy.lock", "");
  const auto lost = repo.CompareAndSwapRef("refs/heads/busy", zero_, first_, "m");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kConflict);
  EXPECT_EQ(test_.Shell("ls tree/.git/refs/heads/busy.lock"), "tree/.git/refs/heads/busy.lock\n");
}

TEST_F(RefTest, RefusesNamesThatAreNoRefs) {
  Repo repo = test_.Open();
  for (const char* name : {"HEAD", "main", "refs/heads/../../x", "refs/heads/a..b", "refs/heads/",
                           "refs/heads/x.lock"}) {
    EXPECT_EQ(repo.CompareAndSwapRef(name, zero_, first_, "m").error().code,
              ErrorCode::kInvalidArgument)
        << name;
  }
  EXPECT_EQ(*repo.ReadRef("refs/heads/absent"), std::nullopt);
}

TEST_F(RefTest, FindsWhereABranchIsInUse) {
  Repo repo = test_.Open();
  test_.Git("branch free");
  test_.Git("branch linked");
  test_.Git("branch bisected");
  test_.Git("branch rebased " + second_);
  EXPECT_EQ(*repo.CheckedOutAt("refs/heads/main"), test_.tree());
  EXPECT_EQ(*repo.CheckedOutAt("refs/heads/free"), "");
  test_.Git("worktree add -q ../w1 linked");
  EXPECT_EQ(*repo.CheckedOutAt("refs/heads/linked"), test_.root() + "/w1");
  test_.Git("worktree add -q ../w2 bisected");
  test_.Shell("cd w2 && git bisect start -q && git bisect bad && git bisect good " + first_);
  EXPECT_EQ(test_.Shell("git -C w2 rev-parse --abbrev-ref HEAD"), "HEAD\n");
  EXPECT_EQ(*repo.CheckedOutAt("refs/heads/bisected"), test_.root() + "/w2");
  test_.Git("worktree add -q ../w3 rebased");
  test_.Shell(
      "cd w3 && git commit -q --allow-empty -m x && "
      "GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i " +
      first_);
  EXPECT_EQ(test_.Shell("git -C w3 rev-parse --abbrev-ref HEAD"), "HEAD\n");
  EXPECT_EQ(*repo.CheckedOutAt("refs/heads/rebased"), test_.root() + "/w3");
}

// Every program that git would run at some point of a publish leaves a mark.
TEST(CanaryTest, NoExternalProgramEverRuns) {
  const TestRepo test;
  test.Write("canary", "#!/bin/sh\ntouch '" + test.root() + "/ran'\ncat\n");
  test.Shell("chmod +x tree/canary");
  test.Write(".gitattributes", "* filter=evil diff=evil text eol=crlf ident\n");
  const Oid commit = test.CommitAll();
  const std::string canary = test.tree() + "/canary";
  for (const char* key :
       {"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv",
        "diff.evil.command", "core.fsmonitor", "gpg.program", "core.pager", "diff.external",
        "core.sshCommand", "core.alternateRefsCommand", "credential.helper", "core.editor"}) {
    test.Git(std::string("config ") + key + " '" + canary + "'");
  }
  test.Git("config commit.gpgsign true");
  for (const char* hook : {"reference-transaction", "pre-commit", "commit-msg", "post-commit",
                           "post-index-change", "update", "post-update"}) {
    test.Shell("cp tree/canary tree/.git/hooks/" + std::string(hook));
  }
  Repo repo = test.Open();
  EXPECT_EQ(*repo.ToGit(commit, "x", "a\r\n"), "a\n");
  EXPECT_EQ(*repo.ToWorkTree(commit, "x", "a\n"), "a\r\n");
  EXPECT_EQ(repo.ConversionOf(commit, "x")->filter, "evil");
  const Oid made = AddFiles(repo, 2, "c");
  ASSERT_TRUE(repo.WritePack("bawn-test"));
  ASSERT_TRUE(repo.CompareAndSwapRef("refs/heads/b", std::string(kZeroOid), made, "m"));
  EXPECT_EQ(*repo.CheckedOutAt("refs/heads/b"), "");
  EXPECT_FALSE(std::filesystem::exists(test.root() + "/ran"));
  test.Git("update-ref refs/heads/control " + commit + " < /dev/null");  // the canary does sing
  EXPECT_TRUE(std::filesystem::exists(test.root() + "/ran"));
}

TEST(DiffTest, GivesGitsHunksAndCounts) {
  InitGit();
  const auto diff = DiffBuffers("a\nb\nc\n", "a\nB\nc");
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->hunks, "@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n");
  EXPECT_EQ(diff->added, 2u);
  EXPECT_EQ(diff->removed, 2u);
  EXPECT_THAT(DiffBuffers("same", "same")->hunks, IsEmpty());
  EXPECT_TRUE(DiffBuffers("", "a\n")->hunks.starts_with("@@ -0,0 +1 @@\n"));
}

TEST(DiffTest, CeilingHoldsAtMaxAndMaxPlusOne) {
  InitGit();
  const std::string most(kDiffBytesMax, 'x');
  EXPECT_FALSE(DiffBuffers(most, "")->too_big);
  EXPECT_TRUE(DiffBuffers(most + "x", "")->too_big);
  EXPECT_TRUE(DiffBuffers("", most + "x")->too_big);
  const std::string lines(kDiffLinesMax, '\n');
  EXPECT_FALSE(DiffBuffers(lines, "x")->too_big);
  EXPECT_TRUE(DiffBuffers(lines + "\n", "")->too_big);
  EXPECT_TRUE(DiffBuffers("", lines + "\n")->too_big);
}

}  // namespace
}  // namespace bawn::git
