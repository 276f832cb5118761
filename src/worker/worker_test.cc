#include "wire/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "base/text.h"
#include "git/repo.h"
#include "publish/test_act.h"
#include "sys/sockets.h"
#include "worker/ops.h"

namespace bawn::worker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using wire::WorkerFrame;

class WorkerTest : public publish::ActTest {
 protected:
  void SetUp() override {
    ActTest::SetUp();
    signal(SIGPIPE, SIG_IGN);
    setenv("HOME", (path_ + "/home").c_str(), 1);
    git::InitGit();
    ASSERT_EQ(chmod((path_ + "/state").c_str(), 0700), 0);
    std::string script = "cd " + path_ +
                         "/tree && git init -q -b main && git add -A && git -c "
                         "user.name=T -c user.email=t@t commit -q -m base";
    ASSERT_EQ(system(script.c_str()), 0);  // NOLINT(cert-env33-c)
    OpenAndRecord();
    meta_.git_dir = meta_.common_dir = meta_.workspace_path + "/.git";
    meta_.base_commit = **git::Repo::Open(meta_.git_dir)->ReadRef("refs/heads/main");
    ASSERT_TRUE(workspace::WriteMeta(dir_, meta_, true));
  }

  struct Answer {
    WorkerFrame frame = WorkerFrame::kFailed;
    Json prepared, json;
    std::string text;
    int exit = -1;
  };
  // A whole session; `commit` is what is sent after Prepared, "" leaves it unanswered.
  Answer Call(JsonObject request, const std::string& commit = "{}") {
    request["state"] = EscapeName(path_ + "/state");
    request["sandbox"] = kId;
    return Raw(ToJsonText(Json(std::move(request))), commit);
  }
  Answer Raw(const std::string& request, const std::string& commit = "{}") {
    auto [ours, theirs] = *sys::StreamPair();
    std::string text_path = path_ + "/text";
    UniqueFd text = *sys::Openat2(AT_FDCWD, text_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    Answer answer;
    std::thread worker([&, fd = theirs.get(), text_fd = text.get()] {
      answer.exit = ServeSession(fd, text_fd, -1);
      theirs.Reset();
    });
    EXPECT_TRUE(wire::SendWorkerMessage(ours.get(), WorkerFrame::kRequest, request));
    Result<wire::WorkerMessage> message = wire::ReceiveWorkerMessage(ours.get());
    if (message && message->frame == WorkerFrame::kPrepared) {
      answer.frame = WorkerFrame::kPrepared;
      answer.prepared = *ParseJson(message->json);
      if (commit.empty()) {
        ours.Reset();
      } else {
        EXPECT_TRUE(wire::SendWorkerMessage(ours.get(), WorkerFrame::kCommit, commit));
        message = wire::ReceiveWorkerMessage(ours.get());
      }
    }
    if (ours.valid() && message) {
      answer.frame = message->frame;
      answer.json = *ParseJson(message->json);
    }
    worker.join();
    answer.text = *sys::ReadFileAt(AT_FDCWD, text_path, 1 << 20);
    return answer;
  }
  static JsonObject Op(const char* op) {
    JsonObject request;
    request["op"] = op;
    return request;
  }
  JsonObject Publish() {
    JsonObject request = Op("publish");
    request["message"] = "m";
    JsonObject author;
    author["name"] = "User";
    author["email"] = "u@e";
    request["author"] = std::move(author);
    return request;
  }
};

TEST_F(WorkerTest, DiffThenPublishWhatWasReviewed) {
  PutUpper("a.txt", "uno\n");
  Answer diff = Call(Op("diff"));
  ASSERT_EQ(diff.frame, WorkerFrame::kDone) << ToJsonText(diff.json);
  EXPECT_EQ(diff.exit, 0);
  EXPECT_THAT(diff.text, HasSubstr("+uno"));
  std::string digest = diff.json.GetString("digest");
  ASSERT_EQ(digest.size(), 64U);
  JsonObject only = Op("diff");
  only["digest_only"] = true;
  EXPECT_EQ(Call(only).text, digest + "\n");

  JsonObject request = Publish();
  request["reviewed"] = std::string(64, '0');
  Answer wrong = Call(request);
  EXPECT_EQ(wrong.frame, WorkerFrame::kFailed);
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_EQ(wrong.json.GetString("code"), "conflict");
  EXPECT_TRUE(wrong.prepared.is_null());  // refused before anything is asked

  request["reviewed"] = digest;
  Answer done = Call(request);
  ASSERT_EQ(done.frame, WorkerFrame::kDone) << ToJsonText(done.json);
  EXPECT_EQ(done.json.GetString("branch"), "bawn/test");
  EXPECT_EQ(done.json.GetString("deploy"), "git merge bawn/test");
  EXPECT_FALSE(done.json.GetBool("tree_changed", true));
  EXPECT_EQ(done.json.GetString("state"), "published");
  // The changes are out of the way at once; what removes them comes after the answer, and the
  // marker says that it is still to do.
  EXPECT_FALSE(fs::exists(path_ + "/sb/layers"));
  EXPECT_TRUE(fs::exists(path_ + "/sb/layers.gone/0/upper/a.txt"));
  EXPECT_TRUE(fs::exists(path_ + "/state/running/" + kId));
  EXPECT_EQ(Call(Op("diff")).json.GetString("rule"), "workspace.no_changes");
  EXPECT_EQ(Call(Op("discard")).json.GetString("state"), "published");
  EXPECT_FALSE(fs::exists(path_ + "/sb/layers.gone"));
  EXPECT_FALSE(fs::exists(path_ + "/state/running/" + kId));
}

TEST_F(WorkerTest, AnUnansweredPrepareLeavesNothing) {
  PutUpper("a.txt", "uno\n");
  Answer left = Call(Publish(), "");
  EXPECT_EQ(left.frame, WorkerFrame::kPrepared);
  EXPECT_EQ(left.exit, 1);
  EXPECT_FALSE(git::Repo::Open(meta_.git_dir)->ReadRef("refs/heads/bawn/test")->has_value());
  EXPECT_FALSE(fs::exists(path_ + "/sb/publishing.json"));
  EXPECT_EQ(Call(Op("apply"), "").exit, 1);
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("a.txt"), 100), "one\n");
  EXPECT_FALSE(fs::exists(path_ + "/sb/journal"));
}

TEST_F(WorkerTest, GatesInWordsNeedEachTheirYesAPersonsYesCoversWhatWasShown) {
  PutUpper(".envrc", "evil");
  JsonObject request = Publish();
  request["unreviewed"] = true;
  Answer refused = Call(request);
  EXPECT_EQ(refused.frame, WorkerFrame::kFailed);
  EXPECT_EQ(refused.json.GetString("kind"), "gated");
  EXPECT_EQ((*refused.prepared.Get("gated")->AsArray())[0].GetString("path"), ".envrc");
  Answer named = Call(request, R"({"yes_paths": [".envrc"]})");
  EXPECT_EQ(named.frame, WorkerFrame::kDone) << ToJsonText(named.json);
}

TEST_F(WorkerTest, ApplyUndoAndDiscard) {
  PutUpper("a.txt", "uno\n");
  PutUpper(".envrc", "shown and accepted");
  Answer applied = Call(Op("apply"));  // asked: the Commit is the yes to what Prepared showed
  ASSERT_EQ(applied.frame, WorkerFrame::kDone) << ToJsonText(applied.json);
  EXPECT_EQ(applied.json.GetInt("written"), 2);
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("a.txt"), 100), "uno\n");
  JsonObject undo = Op("apply");
  undo["undo"] = true;
  Answer undone = Call(undo);
  ASSERT_EQ(undone.frame, WorkerFrame::kDone) << ToJsonText(undone.json);
  EXPECT_EQ(*sys::ReadFileAt(AT_FDCWD, Tree("a.txt"), 100), "one\n");
  EXPECT_FALSE(fs::exists(Tree(".envrc")));
  EXPECT_EQ(Call(Op("discard")).json.GetString("state"), "applied");
}

TEST_F(WorkerTest, DiscardTakesTheChangesAndKeepsTheReceipts) {
  PutUpper("shut/x", "x");
  ASSERT_EQ(chmod(Upper("shut").c_str(), 0), 0);
  Put("jobs/job_x/receipt.json", "{}");
  Answer done = Call(Op("discard"));
  ASSERT_EQ(done.frame, WorkerFrame::kDone) << ToJsonText(done.json);
  EXPECT_FALSE(fs::exists(path_ + "/sb/layers"));
  EXPECT_FALSE(fs::exists(path_ + "/sb/initial"));
  EXPECT_TRUE(fs::exists(path_ + "/sb/jobs/job_x/receipt.json"));
  EXPECT_EQ(workspace::ReadMeta(dir_)->state, "discarded");
  EXPECT_EQ(Call(Op("discard")).frame, WorkerFrame::kDone);  // may be repeated
}

TEST_F(WorkerTest, ALiveSandboxIsReadAndNotWritten) {
  PutUpper("a.txt", "uno\n");
  UniqueFd lock = *sys::Openat2(dir_.fd.get(), "lock", O_RDWR);
  ASSERT_TRUE(sys::Flock(lock.get(), sys::LockKind::kExclusive));
  EXPECT_EQ(Call(Op("diff")).frame, WorkerFrame::kDone);
  for (const JsonObject& request : {Publish(), Op("apply"), Op("discard")}) {
    Answer refused = Call(request);
    EXPECT_EQ(refused.frame, WorkerFrame::kFailed);
    EXPECT_EQ(refused.json.GetString("code"), "conflict");
    EXPECT_NE(refused.json.GetString("hint"), "");
  }
}

TEST_F(WorkerTest, BadRequestsAreNamed) {
  EXPECT_THAT(Call(Op("pubish")).json.GetString("hint"), HasSubstr("publish"));
  EXPECT_EQ(Raw("{").json.GetString("code"), "invalid_argument");
  EXPECT_EQ(Raw(R"({"op": 7})").json.GetString("rule"), "worker.request");
  JsonObject request = Op("diff");
  request["paths"] = "not an array";
  EXPECT_THAT(Call(request).json.GetString("message"), HasSubstr("paths"));
  request = Op("diff");
  request["sandbox"] = "../../etc";
  EXPECT_EQ(Raw(R"({"op": "diff", "state": ")" + path_ + R"(/state", "sandbox": "../../x"})")
                .json.GetString("code"),
            "invalid_argument");
}

TEST_F(WorkerTest, NamesAreEscapedOrEndedByNul) {
  PutUpper("odd\n\xff", "x");
  PutUpper("plain", "x");
  JsonObject request = Op("diff");
  request["names_only"] = true;
  Answer names = Call(request);
  EXPECT_EQ(names.text, "odd\\x0a\\xff\nplain\n");
  EXPECT_TRUE(names.json.Get("digest")->is_null());
  request["nul_terminated"] = true;
  EXPECT_EQ(Call(request).text, std::string("odd\n\xff\0plain\0", 12));
}

}  // namespace
}  // namespace bawn::worker
