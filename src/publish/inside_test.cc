// Commits made inside: what comes along, and that a job which lies gets nothing in (RT-11).
#include "publish/inside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "publish/intent.h"
#include "publish/test_publish.h"

namespace bawn::publish {
namespace {

using testing::HasSubstr;

class InsideTest : public PublishFixture {
 protected:
  // A copy of the tree in which the payload's own git works.
  void CommitInside(const std::string& script) {
    Sh("test -d inside || cp -a tree inside; cd inside && export GIT_AUTHOR_NAME='A Gent' "
       "GIT_AUTHOR_EMAIL=agent@inside GIT_COMMITTER_NAME=Sly GIT_COMMITTER_EMAIL=sly@inside && " +
       script);
  }
  // What the job prints; `edit` is what a job that lies does to it (a filter from stdin to stdout).
  void Print(const std::string& edit = "cat") {
    std::string base = meta_.base_commit.empty() ? "" : " --not " + meta_.base_commit;
    Sh("cd inside && git rev-list --objects --topo-order --no-object-names HEAD" + base +
       " | git cat-file --batch --buffer | " + edit + " >../stream");
  }
  PublishRequest WithObjects() {
    stream_ = *sys::Openat2(AT_FDCWD, path_ + "/stream", O_RDONLY);
    PublishRequest request = Request();
    request.objects_fd = stream_.get();
    return request;
  }
  void ExpectRefused(const std::string& rule, const std::string& words) {
    Result<Published> published = Publish(WithObjects());
    ASSERT_FALSE(published) << words;
    EXPECT_EQ(published.error().rule, rule) << Why(published);
    EXPECT_THAT(published.error().message, HasSubstr(words));
    EXPECT_THAT(published.error().hint, HasSubstr("--squash"));
    EXPECT_EQ(Git("for-each-ref refs/heads/bawn"), "");
    EXPECT_EQ(Sh("ls tree/.git/objects/pack"), "");
    PublishRequest squash = WithObjects();  // the control: the same changes without the commits
    squash.squash = true;
    git::Repo repo = *git::Repo::Open(meta_.git_dir);
    Result<PreparedPublish> prepared = PreparePublish({state_, dir_, meta_, repo, step_}, squash);
    ASSERT_TRUE(prepared) << Why(prepared);
    EXPECT_EQ(prepared->selection.modified, 1U);
  }
  // One commit whose tree holds what the script's `git mktree` reads.
  void CommitTree(const std::string& mktree) {
    CommitInside(
        "x=$(echo x | git hash-object -w --stdin); t=$(git write-tree); "
        "tree=$({ git ls-tree HEAD; " +
        mktree +
        "; } | git mktree --missing); "
        "git update-ref HEAD $(git commit-tree -m m -p HEAD $tree)");
  }

  UniqueFd stream_;
};

TEST_F(InsideTest, CommitsComeAlongAndWhatIsBeyondThemIsOneMore) {
  CommitAndOpen();
  CommitInside(
      "echo uno >a.txt && git commit -qam 'first' && echo n >n.txt && git add n.txt && "
      "git commit -qm 'second\n\nwith a body'");
  PutUpper("a.txt", "uno\n");
  PutUpper("n.txt", "n\n");
  Print();
  PublishRequest request = WithObjects();
  request.message = "";
  Result<Published> published = Publish(request);
  ASSERT_TRUE(published) << Why(published);
  EXPECT_TRUE(published->ended);
  EXPECT_EQ(Git("log --format='%s %an %ae %cn %ce' main..bawn/test"),
            "second A Gent agent@inside Bawn bawn@localhost\n"
            "first A Gent agent@inside Bawn bawn@localhost");
  EXPECT_EQ(Git("log -1 --format=%B bawn/test"), "second\n\nwith a body");
  EXPECT_EQ(Git("rev-parse bawn/test~2"), meta_.base_commit);
  EXPECT_EQ(Git("rev-parse bawn/test^{tree}"), Sh("git -C inside rev-parse HEAD^{tree}"));
  EXPECT_EQ(Git("fsck --strict --no-dangling --no-progress"), "");
  EXPECT_EQ(Sh("ls tree/.git/objects/pack/*.pack | wc -l"), "1");
}

TEST_F(InsideTest, WhatIsBeyondThemNeedsAMessage) {
  CommitAndOpen();
  CommitInside("echo uno >a.txt && git commit -qam first");
  PutUpper("a.txt", "uno\n");
  PutUpper("beyond.txt", "b\n");
  Print();
  PublishRequest request = WithObjects();
  request.message = "";
  EXPECT_EQ(Publish(request).error().rule, "publish.message");
  EXPECT_EQ(Git("for-each-ref refs/heads/bawn"), "");
  request.message = "and the rest";
  Result<Published> published = Publish(request);
  ASSERT_TRUE(published) << Why(published);
  EXPECT_EQ(Git("log --format='%s %an' main..bawn/test"), "and the rest User\nfirst A Gent");
  EXPECT_EQ(Git("show --format= --name-only bawn/test"), "beyond.txt");
}

TEST_F(InsideTest, MergesRootsAndBranchesOfTheRepositoryItself) {
  Git("add -A");
  Git("commit -q -m base");
  Git("checkout -q -b feature");
  PutTree("feature.txt", "f\n");
  Git("add -A");
  Git("commit -q -m feature");
  Git("checkout -q main");
  OpenRepository();
  CommitInside(
      "echo m >m.txt && git add m.txt && git commit -qm mine && "
      "git merge -q -m merged feature");
  PutUpper("m.txt", "m\n");
  PutUpper("feature.txt", "f\n");
  Print();
  PublishRequest request = WithObjects();
  Result<Published> published = Publish(request);
  ASSERT_TRUE(published) << Why(published);
  // The repository's own commit is taken as it is: same name, same committer.
  EXPECT_EQ(Git("rev-parse bawn/test^2"), Git("rev-parse feature"));
  EXPECT_EQ(Git("log -1 --format=%cn bawn/test^1"), "Bawn");
  EXPECT_EQ(Git("fsck --strict --no-dangling --no-progress"), "");
}

TEST_F(InsideTest, TheFirstCommitOfARepository) {
  OpenRepository();
  CommitInside(
      "echo 1 >r.txt && git add r.txt && git commit -qm root && echo 2 >r.txt && "
      "git commit -qam next");
  PutUpper("r.txt", "2\n");
  Print();
  Result<Published> published = Publish(WithObjects());
  ASSERT_TRUE(published) << Why(published);
  EXPECT_EQ(Git("log --format=%s bawn/test"), "next\nroot");
}

TEST_F(InsideTest, TheNextPublishGoesOnFromTheLast) {
  CommitAndOpen();
  CommitInside("echo uno >a.txt && git commit -qam first");
  PutUpper("a.txt", "uno\n");
  PutUpper("beyond.txt", "b\n");
  // Something that stays: the sandbox is kept.
  fs::create_directories(Upper("stays"));
  ASSERT_EQ(mkfifo(Upper("stays/fifo").c_str(), 0600), 0);
  Print();
  Result<Published> one = Publish(WithObjects());
  ASSERT_TRUE(one) << Why(one);
  EXPECT_FALSE(one->ended);
  CommitInside(
      "git add -A && echo b >beyond.txt && git add -A && echo dos >a.txt && "
      "git commit -qam second");
  PutUpper("a.txt", "dos\n");
  Print();
  Result<Published> two = Publish(WithObjects());
  ASSERT_TRUE(two) << Why(two);
  EXPECT_EQ(Git("log --format=%s main..bawn/test"), "second\ndo it\nfirst");
  EXPECT_EQ(Git("rev-parse bawn/test^"), one->commit);
  EXPECT_EQ(Git("fsck --strict --no-dangling --no-progress"), "");
}

TEST_F(InsideTest, WhatOnlyTheWayHoldsIsJudgedToo) {
  CommitAndOpen();
  CommitInside(
      "echo key >secret && echo x >.envrc && git add -A && git commit -qm add && "
      "git rm -q secret .envrc && echo uno >a.txt && git commit -qam remove");
  PutUpper("a.txt", "uno\n");
  Print();
  PublishRequest request = WithObjects();
  Result<Published> published = Publish(request);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().kind, "gated");
  std::vector<std::string> gated;
  gated.reserve(last_.gated.size());
  for (const Named& one : last_.gated) gated.push_back(one.path + " " + one.rule);
  EXPECT_THAT(gated, testing::IsSupersetOf({"secret publish.history_only"}));
  EXPECT_THAT(published.error().message, HasSubstr(".envrc"));
  request.yes_paths = {"secret"};
  EXPECT_THAT(Publish(request).error().message, HasSubstr(".envrc"));
  request.yes_paths = {"secret", ".envrc"};
  EXPECT_TRUE(Publish(request));
}

TEST_F(InsideTest, NamesAndKindsThatMayNotLeave) {
  PutTree(".gitattributes", "*.key filter=git-crypt\n*.bin filter=lfs\n");
  PutTree(".gitignore", "*.o\n");
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  struct Row {
    const char *mktree, *rule, *words;
  };
  const Row rows[] = {
      {"printf '160000 commit %s\\tsub\\n' $(git rev-parse HEAD)", "publish.submodule", "sub"},
      {"printf '100644 blob %s\\tgit~1\\n' $x", "gate.dot-git", "git~1"},
      {"printf '120000 blob %s\\tabs\\n' $(printf 'a\\0b' | git hash-object -w --stdin)",
       "publish.inside_object", "abs"},
      {"printf '100644 blob %s\\tpass.key\\n' $x", "publish.filter", "git-crypt"},
      {"printf '100644 blob %s\\tbig.bin\\n' $x", "publish.filter", "lfs"},
      {"printf '100644 blob %s\\tx.o\\n' $x", "publish.ignored", "x.o"},
      {"printf '040000 tree %s\\tempty\\n' 4b825dc642cb6eb9a060e54bf8d69288fbee4904; "
       "git hash-object -t tree -w /dev/null >/dev/null",
       "publish.inside_object", "empty"},
      {"printf '040000 tree %s\\tbare\\n' $(printf '100644 blob %s\\tHEAD\\n040000 tree "
       "%s\\tobjects\\n040000 tree %s\\trefs\\n' $x $t $t | git mktree)",
       "gate.bare-repository", "bare"},
      {"printf '040000 tree %s\\tdeep\\n' $(printf '040000 tree %s\\t.git \\n' $t | git mktree)",
       "gate.dot-git", ".git"},
  };
  for (const Row& row : rows) {
    Sh("rm -rf inside");
    CommitTree(row.mktree);
    Print();
    ExpectRefused(row.rule, row.words);
  }
}

TEST_F(InsideTest, AJobThatLies) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  CommitInside("echo uno >a.txt && git commit -qam first");
  Print("sed 's/^uno$/dos/'");
  ExpectRefused("publish.inside_stream", "not what its name says");
  Print("head -c 100");
  ExpectRefused("publish.inside_stream", "ends in the middle");
  Print("sed '1s/commit [0-9]*/commit 999999999/'");
  ExpectRefused("publish.inside_stream", "has ");
  Print("cat; echo");
  ExpectRefused("publish.inside_stream", "names no object");
  // The commit alone: its tree is nowhere. The commit and its tree: the blob is nowhere.
  Sh("cd inside && git rev-parse HEAD | git cat-file --batch >../stream");
  ExpectRefused("publish.inside_open", "neither came along nor");
  Sh("cd inside && git rev-parse HEAD 'HEAD^{tree}' | git cat-file --batch >../stream");
  ExpectRefused("publish.inside_open", "a.txt");
  // A tree where the commit is said to be.
  Sh("cd inside && git rev-parse 'HEAD^{tree}' HEAD | git cat-file --batch >../stream");
  ExpectRefused("publish.inside_stream", "another kind");
}

TEST_F(InsideTest, HistoryThatDoesNotDescend) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  CommitInside("git checkout -q --orphan other && echo uno >a.txt && git commit -qam orphan");
  Print();
  ExpectRefused("publish.inside_history", "descend");
  // A parent that is nowhere.
  CommitInside(
      "git update-ref HEAD $(printf 'tree %s\\nparent %040d\\nauthor A <a> 1 +0000\\n"
      "committer A <a> 1 +0000\\n\\nm\\n' $(git rev-parse HEAD^{tree}) 7 | "
      "git hash-object -t commit -w --stdin)");
  Sh("cd inside && git rev-parse HEAD 'HEAD^{tree}' HEAD:a.txt | git cat-file --batch >../stream");
  ExpectRefused("publish.inside_stream", "missing");
}

TEST_F(InsideTest, MalformedObjectsWithTheRightHash) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  const char* trees[] = {
      "printf '100644 ..\\0%s' 12345678901234567890",
      "printf '40000 .git\\0%s' 12345678901234567890",
      "printf '100644 b\\0%s100644 a\\0%s' 12345678901234567890 12345678901234567890",
      "printf '100644 a\\0%s100644 a\\0%s' 12345678901234567890 12345678901234567890",
      "printf '100664 a\\0%s' 12345678901234567890",
      "printf '100644 a/b\\0%s' 12345678901234567890",
      "printf '100644 a\\0%s' 123",
  };
  for (const char* tree : trees) {
    Sh("rm -rf inside");
    CommitInside(std::string("t=$(") + tree +
                 " | git hash-object -t tree --literally -w --stdin); "
                 "c=$(printf 'tree %s\\nparent %s\\nauthor A <a> 1 +0000\\ncommitter A <a> 1 +0000"
                 "\\n\\nm\\n' $t $(git rev-parse HEAD) | git hash-object -t commit -w --stdin); "
                 "printf '%s\\n%s\\n' $c $t | git cat-file --batch >../stream");
    ExpectRefused("publish.inside_object", "tree made inside");
  }
}

TEST_F(InsideTest, ATreeThatUnfoldsToMore) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  // Ten names for the same directory, ten levels deep: ten billion paths in 1 KiB.
  CommitInside(
      "x=$(echo x | git hash-object -w --stdin); "
      "t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '100644 blob %s\\tf%s\\n' $x $i; done "
      "| git mktree); for level in 1 2 3 4 5 6 7 8 9; do "
      "t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\td%s\\n' $t $i; done "
      "| git mktree); done; "
      "git update-ref HEAD $(git commit-tree -m bomb -p HEAD $t); "
      "{ git rev-parse HEAD; git rev-list --objects --no-object-names -1 HEAD | tail -n +2 "
      "| sort -u; } | git cat-file --batch >../stream");
  ExpectRefused("publish.inside_limit", "one");
}

TEST_F(InsideTest, UsersOwnWorkDoesNotComeAlong) {
  PutTree("mine.txt", "m\n");
  Git("add -A");
  Git("commit -q -m base");
  PutTree("mine.txt", "unfinished\n");
  OpenRepository();
  CommitInside("echo uno >a.txt && git commit -qam all");
  PutUpper("a.txt", "uno\n");
  Print();
  ExpectRefused("publish.dirty_base", "mine.txt contains your own uncommitted changes");
}

TEST_F(InsideTest, APartIsNotCarried) {
  CommitAndOpen();
  CommitInside("echo uno >a.txt && git commit -qam first");
  PutUpper("a.txt", "uno\n");
  Print();
  PublishRequest request = WithObjects();
  request.paths = {"a.txt"};
  EXPECT_EQ(Publish(request).error().rule, "publish.inside_whole");
}

}  // namespace
}  // namespace bawn::publish
