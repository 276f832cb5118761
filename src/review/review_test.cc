#include "review/review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "review/test_scene.h"

namespace bawn::review {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

std::vector<std::string> Listed(const Review& review) {
  std::vector<std::string> names;
  for (const Reviewed& path : review.paths) {
    if (!path.ignored) names.push_back(path.change.path);
  }
  return names;
}

TEST(ReviewTest, AnEmptyJobHasAnEmptyReview) {
  Scene scene;
  scene.repo.Write("f", "1\n");
  scene.repo.CommitAll();
  scene.Open();
  const Review review = scene.Make();
  EXPECT_THAT(review.paths, IsEmpty());
  EXPECT_EQ(scene.Patch(review), "");
}

TEST(ReviewTest, IgnoredPathsAreCountedByTheBasesRules) {
  Scene scene;
  scene.repo.Write(".gitignore", "*.o\n/out/\n");
  scene.repo.Write("tracked.o", "1");
  scene.repo.CommitAll();
  scene.Open();
  scene.Write(".gitignore", "*\n");  // RT-15: would hide everything
  scene.Write("evil.sh", "x\n");
  scene.Write("a.o", "x");
  scene.Write("out/deep/b", "x");
  scene.Write("tracked.o", "2");
  scene.Do("mkdir -p out/empty");
  const Review review = scene.Make();
  EXPECT_THAT(Listed(review), ElementsAre(".gitignore", "evil.sh", "tracked.o"));
  EXPECT_EQ(review.ignored_count, 3u);
  EXPECT_THAT(scene.Patch(review), Not(HasSubstr("out/deep")));
  EXPECT_THAT(scene.Patch(review, {.include_ignored = true}),
              testing::AllOf(HasSubstr("diff --git a/out/deep/b b/out/deep/b"),
                             HasSubstr("# out/deep/b: ignored by git")));
}

TEST(ReviewTest, TheUsersUncommittedWorkIsShownApart) {
  Scene scene;
  scene.repo.Write("dirty", "1\n");
  scene.repo.Write("clean", "1\n");
  scene.repo.Write("gone", "1\n");
  scene.repo.Write("reverted", "1\n");
  const std::string base = scene.repo.CommitAll();
  scene.repo.Write("dirty", "1\nuser\n");
  scene.repo.Write("untracked", "user\n");
  scene.repo.Write("reverted", "user\n");
  scene.repo.Write("chmodded", "x\n");
  scene.repo.Shell("rm tree/gone");
  scene.Open();
  scene.Write("dirty", "1\nuser\nagent\n");
  scene.Write("clean", "2\n");
  scene.Write("untracked", "user\nagent\n");
  scene.Write("gone", "agent\n");
  scene.Write("reverted", "1\n");
  const Review review = scene.Make();
  EXPECT_THAT(review.base_dirty, ElementsAre("dirty", "gone", "reverted", "untracked"));
  EXPECT_FALSE(Find(review, "clean")->dirty_base);
  EXPECT_FALSE(Find(review, "reverted")->in_commit);  // now as the commit has it
  const std::string patch = scene.Patch(review);
  // What the sandbox did, not what the user did before.
  EXPECT_THAT(patch, HasSubstr("# dirty: contains your uncommitted changes"));
  EXPECT_THAT(patch, HasSubstr(" user\n+agent\n"));
  auto published = scene.Published(review, /*dirty=*/false);
  auto expected = scene.TreeAt(base);
  expected["clean"] = "100644 " + git::Repo::HashBlob("2\n");
  EXPECT_EQ(published, expected);
  published = scene.Published(review, /*dirty=*/true);
  published.erase("chmodded");
  auto added = scene.Added();
  added.erase("chmodded");  // the user's, untouched by the sandbox: no business of a publish
  EXPECT_EQ(published, added);
}

TEST(ReviewTest, ModesFollowCoreFileMode) {
  Scene scene;
  scene.repo.Write("plain", "1\n");
  scene.repo.Write("edited", "1\n");
  scene.repo.Write("tool", "1\n");
  scene.repo.Shell("chmod +x tree/tool");
  scene.repo.CommitAll();
  scene.repo.Config("core.fileMode", "false");
  scene.repo.Shell("chmod 755 tree/*");  // as a file system without modes shows them
  scene.Open();
  scene.Do("chmod 644 plain tool");
  scene.Write("edited", "2\n");
  scene.Write("new", "n\n");
  scene.Do("chmod 755 new && chmod 644 tool && echo 3 > tool");
  const Review review = scene.Make();
  EXPECT_THAT(Listed(review), ElementsAre("edited", "new", "tool"));
  EXPECT_THAT(review.equal, ElementsAre("plain"));
  EXPECT_EQ(scene.Published(review), scene.Added());
  EXPECT_EQ(Find(review, "new")->new_git_mode, 0100644u);
  EXPECT_EQ(Find(review, "tool")->new_git_mode, 0100755u);
  EXPECT_THAT(scene.Patch(review), Not(HasSubstr("old mode")));
}

TEST(ReviewTest, LinksFollowCoreSymlinks) {
  Scene scene;
  scene.repo.Shell("ln -s target tree/link");
  scene.repo.CommitAll();
  scene.repo.Config("core.symlinks", "false");
  scene.repo.Shell("rm tree/link && printf target > tree/link");
  scene.Open();
  scene.Write("link", "elsewhere");
  scene.Write("new", "file\n");
  const Review review = scene.Make();
  EXPECT_EQ(Find(review, "link")->new_git_mode, 0120000u);
  EXPECT_FALSE(Find(review, "link")->dirty_base);
  EXPECT_EQ(scene.Published(review), scene.Added());
}

TEST(ReviewTest, SubmodulesAndNestedRepositoriesAreRefusedByName) {
  Scene scene;
  scene.repo.Shell("git init -q sub && cd sub && git commit -q --allow-empty -m s");
  scene.repo.Git("-c protocol.file.allow=always submodule -q add ../sub lib/sub 2>&1");
  scene.repo.Write("lib/other", "1\n");
  scene.repo.CommitAll();
  scene.repo.Shell("git init -q tree/nested");
  scene.repo.Write("nested/f", "1\n");
  scene.Open();
  scene.Write("lib/sub/inner", "x\n");
  scene.Write("nested/f", "2\n");
  scene.Write("lib/other", "2\n");
  scene.Do("git init -q fresh && echo x > fresh/x");
  const Review review = scene.Make();
  EXPECT_EQ(Find(review, "lib/sub/inner")->refused_rule, "publish.submodule");
  EXPECT_THAT(Find(review, "lib/sub/inner")->refused, HasSubstr("submodule lib/sub"));
  EXPECT_EQ(Find(review, "nested/f")->refused_rule, "publish.nested_repository");
  EXPECT_EQ(Find(review, "fresh/x")->refused_rule, "publish.nested_repository");
  EXPECT_EQ(Find(review, "fresh/.git/config")->gate.kind, plan::GateKind::kNever);
  EXPECT_TRUE(Find(review, "lib/other")->in_commit);
  for (const Reviewed& path : review.paths) {
    EXPECT_EQ(path.in_commit, path.change.path == "lib/other") << path.change.path;
  }
  // Shown all the same: an apply would write it.
  EXPECT_THAT(scene.Patch(review), HasSubstr("diff --git a/lib/sub/inner b/lib/sub/inner"));
}

TEST(ReviewTest, WhatLooksLikeABareRepositoryNeverLeaves) {
  Scene scene;
  scene.repo.Write("old/objects/x", "1");
  scene.repo.Write("old/refs/x", "1");
  scene.repo.CommitAll();
  scene.Open();
  scene.Do("mkdir -p new/objects new/refs half/objects common");
  scene.Write("new/HEAD", "ref: refs/heads/x\n");
  scene.Write("new/config", "[core]\n\tfsmonitor = evil\n");
  scene.Write("old/HEAD", "ref: refs/heads/x\n");  // completes what the tree has already
  scene.Write("half/HEAD", "x");
  scene.Write("common/HEAD", "x");
  scene.Write("common/commondir", "../new");
  const Review review = scene.Make();
  for (const char* path : {"new/HEAD", "new/config", "old/HEAD", "common/HEAD", "new/objects"}) {
    ASSERT_NE(Find(review, path), nullptr) << path;
    EXPECT_EQ(Find(review, path)->gate.rule_id, "gate.bare-repository") << path;
    EXPECT_FALSE(Find(review, path)->in_commit) << path;
  }
  EXPECT_EQ(Find(review, "half/HEAD")->gate.kind, plan::GateKind::kNone);
  EXPECT_TRUE(Find(review, "half/HEAD")->in_commit);
}

TEST(ReviewTest, GatesAreOnTheResultAndOnWhatChangedInIt) {
  Scene scene;
  scene.repo.Write("package.json", R"({"scripts":{"test":"a"}})");
  scene.repo.Write(".envrc", "1\n");
  scene.repo.Write("web/package.json", R"({"scripts":{"test":"a"}})");
  scene.repo.CommitAll();
  scene.Open();
  scene.Write("package.json", R"({"scripts":{"test":"b"}})");
  scene.Write("web/package.json", R"({"scripts":{"test":"a","postinstall":"evil"}})");
  scene.Write(".vscode/tasks.json", "{}");
  scene.Write("Makefile", "all:\n");
  scene.Do("rm .envrc && ln -s /etc/passwd out && ln -s Makefile in && ln -s ../.git/hooks web/h");
  const Review review = scene.Make();
  const auto rule = [&](const char* path) { return std::string(Find(review, path)->gate.rule_id); };
  EXPECT_EQ(rule("package.json"), "gate.build-js");
  EXPECT_EQ(rule("web/package.json"), "gate.lifecycle");
  EXPECT_EQ(rule(".vscode/tasks.json"), "gate.editor");
  EXPECT_EQ(rule("Makefile"), "gate.build-make");
  EXPECT_EQ(rule(".envrc"), "");  // removed: it runs no more
  EXPECT_EQ(rule("out"), "gate.symlink-out");
  EXPECT_EQ(rule("in"), "");
  EXPECT_EQ(rule("web/h"), "gate.symlink-git");
  EXPECT_THAT(scene.Patch(review),
              HasSubstr("# .vscode/tasks.json: runs by itself on the host (gate.editor)"));
}

TEST(ReviewTest, ARepositoryWithoutACommit) {
  Scene scene;
  scene.repo.Write("users", "1\n");
  scene.Open();
  scene.Write("new", "n\n");
  scene.Write("users", "2\n");
  const Review review = scene.Make();
  EXPECT_TRUE(Find(review, "new")->in_commit);
  EXPECT_TRUE(Find(review, "users")->dirty_base);
  EXPECT_EQ(scene.Published(review), scene.Added());
}

TEST(ReviewTest, ADirectoryThatIsNoRepository) {
  Scene scene;
  scene.repo.Write("f", "1\n");
  scene.Open();
  scene.Write("f", "2\n");
  scene.Write("g", "n\n");
  const workspace::ChangeSet set = scene.Changes();
  const auto review = MakeReview(set, scene.Meta(), nullptr, {.stat = true});
  ASSERT_TRUE(review) << review.error().message;
  EXPECT_THAT(Listed(*review), ElementsAre("f", "g"));
  EXPECT_FALSE(Find(*review, "f")->in_commit);
  EXPECT_FALSE(Find(*review, "f")->dirty_base);
  EXPECT_EQ(Find(*review, "f")->lines_added, 1u);
  const std::string patch = Scene::Rendered(
      [&](int fd) { return RenderPatch(*review, set, nullptr, scene.Meta(), {}, fd); });
  EXPECT_THAT(patch, HasSubstr("-1\n+2\n"));
}

TEST(ReviewTest, NamesOnlyReadsNoContent) {
  Scene scene;
  scene.repo.Write("f", "1\n");
  scene.repo.CommitAll();
  scene.Open();
  scene.Write("f", "2\n");
  scene.Write("a.o", "n\n");
  workspace::ChangeSet set = scene.Changes();
  scene.Do("rm f a.o");  // nothing is there to be read
  git::Repo repo = scene.repo.Open();
  const auto review = MakeReview(set, scene.Meta(), &repo, {.names_only = true});
  ASSERT_TRUE(review) << review.error().message;
  EXPECT_THAT(Listed(*review), ElementsAre("a.o", "f"));
  EXPECT_TRUE(Find(*review, "f")->new_oid.empty());
}

TEST(ReviewTest, PathsLimitByPrefixOfWholeComponents) {
  Scene scene;
  scene.repo.CommitAll();
  scene.Open();
  for (const char* path : {"a/x", "a/y/z", "ab", "b"}) scene.Write(path, path);
  EXPECT_THAT(Listed(scene.Make({.paths = {"a"}})), ElementsAre("a/x", "a/y/z"));
  EXPECT_THAT(Listed(scene.Make({.paths = {"a/", "b"}})), ElementsAre("a/x", "a/y/z", "b"));
  EXPECT_THAT(Listed(scene.Make({.paths = {"."}})).size(), 4u);
}

TEST(ReviewTest, AProblemIsARefusal) {
  Scene scene;
  scene.repo.CommitAll();
  scene.Open();
  workspace::ChangeSet set = scene.Changes();
  workspace::Change change;
  change.path = "fifo";
  change.kind = workspace::ChangeKind::kAdded;
  change.new_type = workspace::EntryType::kSpecial;
  change.problem = "special_file";
  set.changes.push_back(change);
  git::Repo repo = scene.repo.Open();
  const auto review = MakeReview(set, scene.Meta(), &repo, {.stat = true});
  ASSERT_TRUE(review) << review.error().message;
  EXPECT_EQ(Find(*review, "fifo")->refused, "special_file");
  EXPECT_FALSE(Find(*review, "fifo")->in_commit);
  const std::string patch = Scene::Rendered(
      [&](int fd) { return RenderPatch(*review, set, &repo, scene.Meta(), {}, fd); });
  EXPECT_EQ(patch, "# fifo: cannot be published: special_file\n");
}

// RT-09: an ancestor was touched, the file itself is still the commit's.
TEST(ReviewTest, ASuspectPathIsClearedByItsContentAndNothingElse) {
  Scene scene;
  scene.repo.Write("clean", "1\n");
  scene.repo.Write("dirty", "1\n");
  scene.repo.CommitAll();
  scene.repo.Write("dirty", "user\n");
  scene.repo.Write("untracked", "user\n");
  scene.Open();
  for (const char* path : {"clean", "dirty", "untracked", "new"}) scene.Write(path, "agent\n");
  workspace::ChangeSet set = scene.Changes();
  for (workspace::Change& change : set.changes) change.diverged = true;
  workspace::SandboxMeta meta = scene.Meta();
  git::Repo repo = scene.repo.Open();
  const auto diverged = [&] {
    const auto review = MakeReview(set, meta, &repo, {});
    std::vector<std::string> names;
    for (const Reviewed& path : review->paths) {
      if (path.change.diverged) names.push_back(path.change.path);
    }
    return names;
  };
  meta.opened_at_ns += int64_t{3600} * 1'000'000'000;  // nothing in the tree is younger
  EXPECT_THAT(diverged(), ElementsAre("dirty", "new", "untracked"));
  meta.opened_at_ns = 1;  // everything is
  EXPECT_THAT(diverged(), ElementsAre("clean", "dirty", "new", "untracked"));
}

TEST(ReviewTest, AMissingBaseBlobCountsAsTheTreeSaysIt) {
  Scene scene;
  scene.repo.Write("f", "1\n");
  scene.repo.Write("g", "1x\n");
  scene.repo.CommitAll();
  scene.repo.Config("core.repositoryformatversion", "1");
  scene.repo.Config("extensions.partialClone", "origin");
  scene.Open();
  const std::string oid = git::Repo::HashBlob("1\n");
  scene.repo.Shell("rm -f tree/.git/objects/" + oid.substr(0, 2) + "/" + oid.substr(2));
  scene.Write("f", "2\n");
  const Review review = scene.Make();
  EXPECT_TRUE(Find(review, "f")->in_commit);
  EXPECT_FALSE(Find(review, "f")->dirty_base);
  EXPECT_THAT(scene.Patch(review), HasSubstr("-1\n+2\n"));
}

TEST(ReviewTest, JsonNamesEscapeReversiblyAndTellTheFacts) {
  Scene scene;
  scene.repo.Write("old\xff", "a\nb\nc\nd\ne\nf\n");
  scene.repo.CommitAll();
  scene.Open();
  scene.Do("mv old* new");
  scene.Write(".envrc", "x\n");
  const Json json = ToJson(scene.Make());
  ASSERT_TRUE(ParseJson(ToJsonText(json)));
  const JsonArray& paths = *json.Get("paths")->AsArray();
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(paths[0].GetString("path"), ".envrc");
  EXPECT_EQ(paths[0].Get("gate")->GetString("rule"), "gate.direnv");
  EXPECT_EQ(paths[1].GetString("kind"), "renamed");
  EXPECT_EQ(paths[1].GetString("old_path"), "old\\xff");
  EXPECT_EQ(paths[1].GetInt("similarity"), 100);
  EXPECT_EQ(paths[1].GetString("new_mode"), "100644");
  EXPECT_TRUE(paths[1].GetBool("in_commit"));
  EXPECT_EQ(json.GetString("digest").size(), 64u);
}

// Cost follows the changes: the same few changes in a tree ten times the size.
TEST(ReviewTest, CostFollowsTheChangesNotTheTree) {
  const auto time_of = [](int files, int changes) {
    Scene scene;
    for (int i = 0; i < files; ++i) {
      scene.repo.Write("d" + std::to_string(i / 100) + "/f" + std::to_string(i), "1\n");
    }
    scene.repo.CommitAll();
    scene.Open();
    for (int i = 0; i < changes; ++i) {
      scene.Write("d" + std::to_string(i / 100) + "/f" + std::to_string(i), "2\n");
    }
    const workspace::ChangeSet set = scene.Changes();
    git::Repo repo = scene.repo.Open();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(MakeReview(set, scene.Meta(), &repo, {})->paths.size(), size_t(changes));
    return std::chrono::steady_clock::now() - start;
  };
  const auto small = time_of(100, 20), large = time_of(1000, 20), many = time_of(1000, 1000);
  const auto ms = [](auto time) {
    return static_cast<double>(time / std::chrono::microseconds(1)) / 1000;
  };
  std::printf("20 of 100: %.1f ms, 20 of 1000: %.1f ms, 1000 of 1000: %.1f ms\n", ms(small),
              ms(large), ms(many));
  EXPECT_LT(large, small * 5 + std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace bawn::review
