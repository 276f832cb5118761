#include "publish/publish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "publish/finish.h"
#include "publish/intent.h"
#include "publish/test_publish.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::publish {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PublishTest : public PublishFixture {};

TEST_F(PublishTest, TheTreeIsWhatGitAddMakes) {
  PutTree(".gitattributes", "*.crlf text eol=crlf\n*.id ident\n");
  PutTree(".gitignore", "*.o\nbuild/\n");
  PutTree("win.crlf", "one\r\ntwo\r\n");
  PutTree("keyword.id", "$Id$\n");
  PutTree("exec.sh", "#!/bin/sh\n");
  PutTree("d/deep/er/f", "f");
  PutTree("kind", "file");
  PutTree("kinddir/x", "x");
  fs::create_symlink("a.txt", Tree("link"));
  CommitAndOpen();
  auto change = [&](const std::string& top) {  // the same in the layer and in a native copy
    Write(top + "a.txt", "uno\n");
    Write(top + "win.crlf", "one\r\ntwo\r\nthree\r\n");
    Write(top + "keyword.id", "$Id: xyz$\nmore\n");
    Write(top + "new/dir/file", "new");
    Write(top + "kind/inner", "now a directory");
    Write(top + "kinddir", "now a file");
    Write(top + "made.o", "ignored");
    Write(top + "bytes\xff\n\"name", "odd");
    Write(top + "exec.sh", "#!/bin/sh\n");
    fs::permissions(top + "exec.sh", fs::perms(0755));
    fs::create_symlink("src/b.txt", top + "link");
    fs::create_directories(top + "empty/dir");
  };
  Whiteout("d");
  change(Upper(""));
  Sh("cp -a tree native && cd native && rm -rf d kind kinddir link");
  change(path_ + "/native/");
  std::string native = Sh("cd native && git add -A && git write-tree");

  Result<Published> published = Publish(Request());
  ASSERT_TRUE(published) << Why(published);
  EXPECT_EQ(published->ref, "refs/heads/bawn/test");
  EXPECT_EQ(Git("rev-parse bawn/test^{tree}"), native);
  EXPECT_EQ(Git("rev-parse bawn/test^"), meta_.base_commit);
  EXPECT_EQ(Git("log -1 --format='%an <%ae>|%cn <%ce>|%B' bawn/test"),
            "User <user@example.org>|Bawn <bawn@localhost>|do it\n\nbecause");
  EXPECT_THAT(Git("fsck --strict --no-dangling"), testing::Not(HasSubstr("error")));
  EXPECT_THAT(last_.unrecorded, ElementsAre("empty/dir"));
  EXPECT_EQ(last_.ignored, 1U);
  EXPECT_TRUE(published->ended);
  EXPECT_EQ(workspace::ReadMeta(dir_)->state, kPublished);
  EXPECT_FALSE(fs::exists(path_ + "/sb/layers"));
  EXPECT_EQ(Git("status --porcelain"), "");  // no work tree and no index was touched
}

TEST_F(PublishTest, NoProgramOfTheRepositoryEverRuns) {
  PutTree(".gitattributes", "*.f filter=evil diff=evil\n");
  PutTree("x.f", "x");
  Git("add -A");
  Git("config filter.evil.clean 'touch " + path_ + "/canary; cat'");
  Git("config core.fsmonitor 'touch " + path_ + "/canary; false'");
  Git("config gpg.program " + path_ + "/evil");
  Git("config commit.gpgsign true");
  Sh("printf '#!/bin/sh\\ntouch " + path_ +
     "/canary\\n' > evil && chmod +x evil && for h in "
     "pre-commit post-commit reference-transaction post-index-change commit-msg update; do "
     "cp evil tree/.git/hooks/$h; done");
  Sh("cd tree && git -c commit.gpgsign=false commit -q --allow-empty -m base; rm -f ../canary");
  OpenRepository();
  PutUpper("x.f", "y");
  PutUpper("plain", "p");
  Result<Published> published = Publish(Request());
  ASSERT_TRUE(published) << Why(published);
  EXPECT_TRUE(published->unsigned_although_asked);
  EXPECT_FALSE(fs::exists(path_ + "/canary"));
  EXPECT_THAT(refused_, ElementsAre("x.f publish.filter"));
  Git("-c core.hooksPath=.git/hooks update-ref refs/heads/control HEAD");
  EXPECT_TRUE(fs::exists(path_ + "/canary"));  // control: git itself does run them
}

TEST_F(PublishTest, WithoutACommitItMakesTheRoot) {
  fs::remove_all(Tree("src"));
  OpenRepository();
  PutUpper("first", "1");
  Result<Published> published = Publish(Request());
  ASSERT_TRUE(published) << Why(published);
  EXPECT_THAT(published->parents, IsEmpty());
  EXPECT_EQ(Git("ls-tree --name-only bawn/test"), "first");
}

TEST_F(PublishTest, WhatRunsByItselfNeedsAYesAndGitAliasesNeverPass) {
  CommitAndOpen();
  PutUpper(".envrc", "evil");
  PutUpper(".github/workflows/x.yml", "on: push");
  PutUpper("vendor/.GIT/config", "[core]");
  PutUpper("plain", "p");
  PublishRequest request = Request();
  Result<Published> published = Publish(request);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().kind, "gated");
  EXPECT_THAT(published.error().message, HasSubstr(".envrc"));
  EXPECT_THAT(published.error().message, HasSubstr(".github/workflows/x.yml"));
  request.yes_paths = {".envrc"};
  EXPECT_FALSE(Publish(request));
  request.yes_paths = {".envrc", "no/such"};
  EXPECT_EQ(Publish(request).error().rule, "publish.yes_path");
  request.yes_paths = {".envrc", ".github/workflows/x.yml", "vendor/.GIT/config"};
  refused_.clear();
  published = Publish(request);
  ASSERT_TRUE(published) << Why(published);
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_THAT(refused_[0], HasSubstr("vendor/.GIT/config"));
  EXPECT_EQ(Git("ls-tree -r --name-only bawn/test"),
            ".envrc\n.github/workflows/x.yml\na.txt\nplain\nsrc/b.txt\nsrc/c.txt");
  EXPECT_FALSE(published->ended);  // something stays
}

TEST_F(PublishTest, PartByPartOnOneBranch) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  PutUpper("src/b.txt", "due\n");
  PublishRequest request = Request();
  request.paths = {"a.txt"};
  Result<Published> first = Publish(request);
  ASSERT_TRUE(first) << Why(first);
  EXPECT_FALSE(first->ended);
  EXPECT_THAT(Lines(Read()), ElementsAre("M src/b.txt"));
  request.paths = {};
  Result<Published> second = Publish(request);
  ASSERT_TRUE(second) << Why(second);
  EXPECT_THAT(second->parents, ElementsAre(first->commit));
  EXPECT_EQ(Git("show bawn/test:a.txt"), "uno");
  EXPECT_EQ(Git("show bawn/test:src/b.txt"), "due");
  EXPECT_TRUE(second->ended);
}

TEST_F(PublishTest, RefusesWhatItMustNotMove) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  PublishRequest request = Request();
  request.branch = "main";
  EXPECT_EQ(Publish(request).error().rule, "publish.checked_out");
  Sh("git -C tree worktree add -q ../linked -b linked");
  request.branch = "linked";
  EXPECT_EQ(Publish(request).error().rule, "publish.checked_out");
  Git("commit -q --allow-empty -m more");
  Git("branch other");
  request.branch = "other";
  EXPECT_EQ(Publish(request).error().rule, "publish.branch_moved");
  for (const char* bad : {"-x", "refs/tags/x", "a..b", "HEAD", "x.lock"}) {
    request.branch = bad;
    EXPECT_FALSE(Publish(request)) << bad;
  }
  request.branch = "";
  request.message = " \n";
  EXPECT_EQ(Publish(request).error().rule, "publish.message");
  meta_.git_dir = "";
  EXPECT_EQ(publish::OpenRepository(meta_).error().rule, "publish.no_repository");
}

TEST_F(PublishTest, TheUsersOwnWorkStaysTheUsers) {
  PutTree("dirty.txt", "committed\n");
  Git("add -A");
  Git("commit -q -m base");
  PutTree("dirty.txt", "user, uncommitted\n");
  OpenRepository();
  PutUpper("dirty.txt", "user, uncommitted\nand the agent\n");
  PutUpper("a.txt", "uno\n");
  PutUpper("src/b.txt", "due\n");
  PutTree("src/b.txt", "the user, since\n");
  Result<Published> published = Publish(Request());
  ASSERT_TRUE(published) << Why(published);
  EXPECT_THAT(refused_, ElementsAre("dirty.txt publish.dirty_base", "src/b.txt publish.diverged"));
  EXPECT_EQ(Git("show bawn/test:dirty.txt"), "committed");
  EXPECT_EQ(Git("show bawn/test:src/b.txt"), "two");
  PublishRequest request = Request();
  request.include_dirty = true;
  refused_.clear();
  published = Publish(request);
  ASSERT_TRUE(published) << Why(published);
  EXPECT_THAT(refused_, ElementsAre("src/b.txt publish.diverged"));
  EXPECT_EQ(Git("show bawn/test:dirty.txt"), "user, uncommitted\nand the agent");
}

TEST_F(PublishTest, OfTwoPublishersOnOneRefOneWins) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  int wins = 0, losses = 0;
  auto [go_read, go_write] = *sys::Pipe();
  std::vector<sys::Child> children;
  const std::string other = "sb_bbbbbbbbbbbbbbbbbbbbbbbbbb";
  Sh(std::string("cp -a state/sb/") + kId + " state/sb/" + other);
  for (int i = 0; i < 2; ++i) {
    Result<sys::Child> child = sys::Clone3(0);
    if (child->pid == 0) {
      if (i == 1) dir_ = *workspace::OpenSandboxDir(state_, other, true);
      if (i == 1) meta_.id = other;
      git::Repo repo = *git::Repo::Open(meta_.git_dir);
      PublishContext context{state_, dir_, meta_, repo, step_};
      PublishRequest request = Request();
      request.message = "by " + std::to_string(i);
      Result<PreparedPublish> prepared = PreparePublish(context, request);
      char c = 0;
      (void)sys::Read(go_read.get(), &c, 1);
      Result<Published> published = CommitPublish(context, *prepared, request);
      if (published) _exit(0);
      _exit(published.error().code == ErrorCode::kConflict ? 1 : 2);
    }
    children.push_back(std::move(*child));
  }
  usleep(100'000);
  ASSERT_TRUE(sys::WriteAll(go_write.get(), "go"));
  for (sys::Child& child : children) {
    bool ended = false;
    int status = sys::WaitPidfd(child.pidfd.get(), true, &ended)->status;
    wins += status == 0 ? 1 : 0;
    losses += WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 1 : 0;
  }
  EXPECT_EQ(wins, 1);
  EXPECT_EQ(losses, 1);
  EXPECT_EQ(Git("rev-parse bawn/test^"), meta_.base_commit);
}

TEST_F(PublishTest, KilledAtEveryStepTheNextCommandKnows) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  PutUpper("src/b.txt", "due\n");
  bool partial = true;
  for (int n = 0;; ++n) {
    Result<sys::Child> child = sys::Clone3(0);
    if (child->pid == 0) {
      int at = 0;
      step_ = [&] {
        if (at++ == n) _exit(9);
      };
      PublishRequest request = Request();
      if (partial) request.paths = {"a.txt"};
      _exit(Publish(request) ? 0 : 1);
    }
    bool over = false;
    int status = sys::WaitPidfd(child->pidfd.get(), true, &over)->status;
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 1) << n;
    git::Repo repo = *git::Repo::Open(meta_.git_dir);
    meta_ = *workspace::ReadMeta(dir_);
    ASSERT_TRUE(RecoverPublish({state_, dir_, meta_, repo}));
    EXPECT_FALSE(HasIntent(dir_));
    bool moved = repo.ReadRef("refs/heads/bawn/test")->has_value();
    ASSERT_FALSE(IsEnded(meta_.state));
    size_t pending = Read().changes.size();
    EXPECT_EQ(pending, moved ? 1U : 2U) << n;
    Git("fsck --strict --no-dangling");
    if (!moved) continue;
    if (WEXITSTATUS(status) == 0) break;
    // Back to where it was, for the next step.
    Git("update-ref -d refs/heads/bawn/test");
    fs::remove(path_ + "/sb/remembered.json");
    meta_.extra = JsonObject();
    ASSERT_TRUE(workspace::WriteMeta(dir_, meta_, true));
  }
}

TEST_F(PublishTest, OneDigestIsPublished) {
  Consent none;
  EXPECT_EQ(CheckConsent(none, "d").error().rule, "publish.consent");
  EXPECT_EQ(CheckConsent({"e", false}, "d").error().rule, "publish.digest");
  EXPECT_EQ(CheckConsent({"d", true}, "d").error().rule, "publish.consent");
  EXPECT_TRUE(CheckConsent({"d", false}, "d"));
  EXPECT_TRUE(CheckConsent({"", true}, "d"));
}

// Content that changes between Prepare and Commit is never what is committed.
TEST_F(PublishTest, WhatWasNotReviewedIsNotCommitted) {
  CommitAndOpen();
  PutUpper("a.txt", "uno\n");
  git::Repo repo = *git::Repo::Open(meta_.git_dir);
  PublishContext context{state_, dir_, meta_, repo, step_};
  PreparedPublish prepared = *PreparePublish(context, Request());
  PutUpper("a.txt", "evil\n");
  Result<Published> published = CommitPublish(context, prepared, Request());
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code, ErrorCode::kConflict);
  EXPECT_FALSE(repo.ReadRef("refs/heads/bawn/test")->has_value());
}

}  // namespace
}  // namespace bawn::publish
