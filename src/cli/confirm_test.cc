#include "cli/confirm.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <termios.h>

#include <thread>

#include "cli/pager.h"
#include "cli/test_support.h"
#include "sys/sockets.h"

namespace bawn::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kDigest(64, 'd');

class ConfirmTest : public CliTest {
 protected:
  // A pty whose slave is "the terminal". Its other end answers when the question has come.
  void OpenTerminal(const std::string& answer) {
    master_.Reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(master_.valid() && grantpt(master_.get()) == 0 && unlockpt(master_.get()) == 0);
    console_.tty_path = ptsname(master_.get());
    slave_ = *sys::Openat2(AT_FDCWD, console_.tty_path, O_RDWR | O_NOCTTY);
    console_.in_terminal = console_.err_terminal = true;
    answerer_ = std::thread([this, answer] { Answer(answer); });
  }
  void Answer(const std::string& answer) {
    char byte = 0;
    while (shown_.find("[y/N] ") == std::string::npos) {
      Result<size_t> got = sys::Read(master_.get(), &byte, 1);
      if (!got || *got == 0) return;
      shown_ += byte;
    }
    (void)sys::WriteAll(master_.get(), answer);
  }
  // What was shown until the question; call it after the command.
  std::string Shown() {
    if (answerer_.joinable()) answerer_.join();
    return shown_;
  }
  void TearDown() override {
    slave_.Reset();  // the last slave gone ends a reader that never saw a question
    if (answerer_.joinable()) answerer_.join();
  }

  UniqueFd master_, slave_;
  std::thread answerer_;
  std::string shown_;
};

TEST_F(ConfirmTest, WithoutATerminalTheCommandToTypeIsShown) {
  EXPECT_EQ(Bawn({"publish", "-m", "fix: a b", "brave-otter-k3f"}), 1);
  EXPECT_FALSE(fake_.publish);
  EXPECT_THAT(Err(), HasSubstr("publish needs a review, and there is no terminal to ask on"));
  EXPECT_THAT(Err(),
              HasSubstr("bawn publish --message 'fix: a b' --reviewed \"$(bawn diff --digest "
                        "brave-otter-k3f)\" brave-otter-k3f\n"));
  EXPECT_THAT(Err(), HasSubstr("bawn publish --message 'fix: a b' --unreviewed brave-otter-k3f\n"));
  for (const std::vector<std::string>& many :
       {std::vector<std::string>{"discard", "--all"}, {"discard", "--older", "7d"}}) {
    EXPECT_EQ(Bawn(many), 1);
    EXPECT_FALSE(fake_.discard);
  }
  EXPECT_THAT(Err(), HasSubstr("bawn discard --all --yes\n"));
  EXPECT_THAT(Err(), HasSubstr("bawn discard --older 7d --yes\n"));
}

TEST_F(ConfirmTest, WithTheWordsNobodyIsAsked) {
  EXPECT_EQ(Bawn({"publish", "--reviewed", kDigest}), 0) << Err();
  EXPECT_EQ(fake_.publish->reviewed, kDigest);
  EXPECT_EQ(fake_.confirmed, true);
  EXPECT_EQ(Bawn({"apply", "--unreviewed"}), 0);
  EXPECT_TRUE(fake_.apply->unreviewed);
  EXPECT_EQ(Bawn({"apply", "--undo"}), 0);
  EXPECT_TRUE(fake_.apply->undo && !fake_.apply->unreviewed);
  EXPECT_EQ(Bawn({"discard", "brave-otter-k3f"}), 0);
  EXPECT_EQ(fake_.discard->sandbox.name, "brave-otter-k3f");
  EXPECT_EQ(Bawn({"discard", "--yes", "--older", "7d"}), 0);
  EXPECT_EQ(fake_.discard->older_ms, 604'800'000U);
  EXPECT_EQ(fake_.confirmed, true);
}

TEST_F(ConfirmTest, PublishPassesEveryOption) {
  EXPECT_EQ(
      Bawn({"publish", "-b", "x", "-m", "m", "--unreviewed", "--squash", "--include-dirty",
            "--merge", "--update-tree", "--path", "src", "--yes-path", ".envrc", "-w", "/w", "n"}),
      0);
  ASSERT_TRUE(fake_.publish);
  EXPECT_EQ(fake_.publish->branch + fake_.publish->message, "xm");
  EXPECT_TRUE(fake_.publish->merge);
  EXPECT_TRUE(fake_.publish->squash && fake_.publish->include_dirty && fake_.publish->update_tree);
  EXPECT_EQ(fake_.publish->paths, std::vector<std::string>{"src"});
  EXPECT_EQ(fake_.publish->yes_paths, std::vector<std::string>{".envrc"});
  EXPECT_EQ(fake_.publish->sandbox.name + fake_.publish->sandbox.workspace, "n/w");
}

TEST(PreparedTextTest, OnlyWhatRunsByItselfIsSaidToDoSo) {
  Json prepared = *ParseJson(R"({"gated": [
      {"path": ".envrc", "rule": "gate.direnv", "reason": "the shell evaluates it"},
      {"path": "away", "rule": "gate.symlink-out", "reason": "leads out"},
      {"path": "secret", "rule": "publish.history_only", "reason": "not in the diff"},
      {"path": "old", "rule": "publish.diverged", "reason": "changed around it"}]})");
  EXPECT_EQ(PreparedText(prepared),
            "  runs by itself on this machine:\n    .envrc  (the shell evaluates it)\n"
            "  needs a yes of its own:\n    away  (leads out)\n    secret  (not in the diff)\n"
            "    old  (changed around it)\n");
}

TEST(PreparedTextTest, CommitsMadeInsideAndMergedPathsAreShown) {
  Json prepared = *ParseJson(R"({"merged": ["both.txt"], "inside_commits": 2, "inside": [
      {"commit": "0123456789abcdef", "author": "A Gent <a@b>", "subject": "two \u001b[31m"},
      {"commit": "fedcba9876543210", "author": "A Gent <a@b>", "subject": "one"}]})");
  std::string text = PreparedText(prepared);
  EXPECT_THAT(text, testing::HasSubstr("merged with what you changed:\n    both.txt\n"));
  EXPECT_THAT(text, testing::HasSubstr("with 2 commits made inside:\n    0123456789ab two "));
  EXPECT_THAT(text, testing::HasSubstr("    fedcba987654 one  (A Gent <a@b>)\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\x1b")));
}

TEST_F(ConfirmTest, AnActDoneInPartNamesTheRestAndIsNoSuccess) {
  fake_.answer = *ParseJson(R"({"written": 3, "deleted": 1,
                                "left": [{"path": "a.txt", "why": "changed meanwhile"}],
                                "refused": [{"path": "b", "reason": "is yours", "hint": "say so"}]
                               })");
  EXPECT_EQ(Bawn({"apply", "--unreviewed"}), 1);
  EXPECT_EQ(Err(),
            "bawn: wrote 3 paths, removed 1\nbawn: to put back what was there: bawn apply --undo\n"
            "bawn: left alone: a.txt (changed meanwhile)\n"
            "bawn: left alone: b (is yours; say so)\n");
  EXPECT_EQ(Bawn({"apply", "--unreviewed", "--json"}), 1);
  EXPECT_EQ(Out(), ToJsonText(fake_.answer, 2) + "\n");
  fake_.answer = *ParseJson(R"({"written": 1, "deleted": 0, "left": []})");
  EXPECT_EQ(Bawn({"apply", "--undo"}), 0);
  EXPECT_THAT(Err(), HasSubstr("bawn: put back: wrote 1 path\n"));
}

TEST_F(ConfirmTest, WhatRunsByItselfNeedsItsOwnYes) {
  fake_.prepared = *ParseJson(R"({"gated": [{"path": ".envrc", "reason": "direnv runs it"},
                                            {"path": "a\\xff b"}]})");
  EXPECT_EQ(Bawn({"apply", "--unreviewed", "--yes-path", ".envrc"}), 1);
  EXPECT_EQ(fake_.confirmed, false);
  EXPECT_THAT(Err(), HasSubstr("runs by itself on this machine: a\\xff b\n"));
  EXPECT_THAT(Err(), HasSubstr("rule: gate.runs_by_itself\n"));
  EXPECT_EQ(Bawn({"apply", "--unreviewed", "--yes-path", ".envrc", "--yes-path", "a\xff b"}), 0);
  EXPECT_EQ(fake_.confirmed, true);
}

TEST_F(ConfirmTest, OnATerminalAYesActs) {
  fake_.prepared = *ParseJson(R"({"summary": {"added": 1, "modified": 2},
    "gated": [{"path": ".envrc", "reason": "direnv runs it"}],
    "refused": [{"path": "big.bin", "reason": "LFS"}]})");
  fake_.answer = *ParseJson(R"({"commit": "0123456789abcdef", "branch": "bawn/n",
                                "sandbox_name": "n", "deploy": "git merge bawn/n"})");
  OpenTerminal("y\n");
  EXPECT_EQ(Bawn({"publish"}), 0) << Err();
  EXPECT_EQ(fake_.confirmed, true);
  EXPECT_THAT(Shown(), HasSubstr("added 1, modified 2"));
  EXPECT_THAT(shown_, HasSubstr("runs by itself on this machine:"));
  EXPECT_THAT(shown_, HasSubstr(".envrc  (direnv runs it)"));
  EXPECT_THAT(shown_, HasSubstr("big.bin  (LFS)"));
  EXPECT_EQ(Err(),
            "bawn: published 0123456789ab to bawn/n from n\n"
            "bawn: no work tree was changed; to take it over: git merge bawn/n\n");
}

TEST_F(ConfirmTest, AnythingButAYesDoesNothing) {
  OpenTerminal("yes please\n");
  EXPECT_EQ(Bawn({"apply"}), 1);
  EXPECT_EQ(fake_.confirmed, false);
  EXPECT_THAT(Err(), HasSubstr("not confirmed; nothing was changed"));
}

TEST_F(ConfirmTest, EndOfInputIsANo) {
  OpenTerminal("\x04");
  EXPECT_EQ(Bawn({"discard"}), 1);
  EXPECT_EQ(fake_.confirmed, false);
}

TEST_F(ConfirmTest, TypedAheadAnswersAreDropped) {
  OpenTerminal("n\n");
  ASSERT_TRUE(sys::WriteAll(master_.get(), "y\n"));
  EXPECT_EQ(Bawn({"discard"}), 1);
  EXPECT_EQ(fake_.confirmed, false);
}

TEST_F(ConfirmTest, APipedYesIsNoTerminal) {
  OpenTerminal("y\n");
  console_.in_terminal = false;
  EXPECT_EQ(Bawn({"publish"}), 1);
  EXPECT_FALSE(fake_.publish);
  master_.Reset();
}

TEST_F(ConfirmTest, AHostileNameDoesNotReachTheTerminal) {
  fake_.prepared = *ParseJson("{\"gated\": [{\"path\": \"x\\u001b[2J\\ny? [y\"}]}");
  OpenTerminal("n\n");
  EXPECT_EQ(Bawn({"publish"}), 1);
  EXPECT_THAT(Shown(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown_, HasSubstr("x\\x1b[2J\\x0ay? [y"));
}

TEST_F(ConfirmTest, DiscardNamesWhatGoes) {
  fake_.prepared = *ParseJson(R"({"discarded": [
    {"sandbox_id": "sb_1", "sandbox_name": "n", "workspace": "/w", "kept": true}]})");
  fake_.answer = fake_.prepared;
  OpenTerminal("y\n");
  EXPECT_EQ(Bawn({"discard", "--all"}), 0);
  EXPECT_TRUE(fake_.discard->all);
  EXPECT_THAT(Shown(), HasSubstr("1 sandbox would be dropped, for good:"));
  EXPECT_THAT(shown_, HasSubstr("n  /w  (has changes)"));
  EXPECT_EQ(Err(), "bawn: discarded n\n");
}

class PagerTest : public CliTest {};

TEST_F(PagerTest, IsChosenByTheEnvironmentAndOnlyForATerminal) {
  console_.environment = {"PATH=/nonexistent", "TERM=xterm", "PAGER=more"};
  EXPECT_EQ(PagerCommand(console_), "");
  console_.out_terminal = true;
  EXPECT_EQ(PagerCommand(console_), "more");
  console_.environment.emplace_back("BAWN_PAGER=most -x");
  EXPECT_EQ(PagerCommand(console_), "most -x");
  console_.environment = {"PATH=/nonexistent", "TERM=xterm", "BAWN_PAGER=cat"};
  EXPECT_EQ(PagerCommand(console_), "");
  console_.environment = {"PATH=/nonexistent", "TERM=xterm"};
  EXPECT_EQ(PagerCommand(console_), "");
  console_.environment = {"PATH=/nonexistent", "TERM=dumb", "PAGER=more"};
  EXPECT_EQ(PagerCommand(console_), "");
}

TEST_F(PagerTest, ColoursHonourNoColor) {
  EXPECT_FALSE(console_.Colour());
  console_.out_terminal = true;
  EXPECT_TRUE(console_.Colour());
  console_.environment.emplace_back("NO_COLOR=1");
  EXPECT_FALSE(console_.Colour());
}

TEST_F(PagerTest, DiffGoesThroughIt) {
  console_.out_terminal = true;
  console_.environment.emplace_back("BAWN_PAGER=sed 's/^/paged: /'; echo \"LESS=$LESS\"");
  fake_.text = "line\n";
  fake_.answer = *ParseJson(R"({"sandbox_name": "n", "paths": 1})");
  EXPECT_EQ(Bawn({"diff"}), 0) << Err();
  EXPECT_EQ(Out(), "paged: line\nLESS=FRX\n");
  EXPECT_TRUE(fake_.diff->terminal && fake_.diff->colour);
}

TEST_F(PagerTest, LeavingItEarlyIsNoFailure) {
  console_.out_terminal = true;
  console_.environment.emplace_back("BAWN_PAGER=exec true");
  fake_.text = std::string(8 << 20, 'x');  // more than a pipe holds
  signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(Bawn({"diff"}), 0);
  signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(Err(), "");
}

TEST_F(PagerTest, ScriptsFormsAreNotPaged) {
  console_.out_terminal = true;
  console_.environment.emplace_back("BAWN_PAGER=false");
  fake_.text = "x";
  EXPECT_EQ(Bawn({"diff", "--digest"}), 0);
  EXPECT_EQ(Bawn({"diff", "--names", "-z"}), 0);
  EXPECT_EQ(Bawn({"diff", "--json"}), 0);
  EXPECT_EQ(Out(), "xxx");
}

}  // namespace
}  // namespace bawn::cli
