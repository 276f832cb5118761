#include "workspace/state.h"

#include <sys/resource.h>

#include <cerrno>

#include "base/ids.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "workspace/test_tree.h"

namespace bawn::workspace {
namespace {

class StateTest : public testing::Test {
 protected:
  StateEnv Env() const {
    StateEnv env;
    env.bawn_state_dir = tree_.path() + "/state";
    env.uid = getuid();
    return env;
  }
  StateDir Open() const {
    Result<StateDir> state = OpenStateDir(Env());
    EXPECT_TRUE(state) << state.error().message;
    return std::move(*state);
  }
  TempTree tree_;
};

TEST_F(StateTest, IsMadePrivateAndFoundAgain) {
  StateDir state = Open();
  EXPECT_EQ(state.path, tree_.path() + "/state");
  EXPECT_EQ(sys::Fstat(state.fd.get())->mode & 07777, 0700U);
  EXPECT_TRUE(OpenStateDir(Env()));
}

TEST_F(StateTest, PlacesAreTriedInOrder) {
  // A uid that is not ours: every place is refused for its owner, and the refusal names the place.
  StateEnv env;
  env.uid = getuid() + 1;
  env.home = tree_.path() + "/home";
  auto place = [&] { return OpenStateDir(env).error().message; };
  EXPECT_NE(place().find(env.home + "/.local/state/bawn belongs"), std::string::npos) << place();
  env.xdg_state_home = "relative";
  EXPECT_NE(place().find(env.home + "/.local/state/bawn belongs"), std::string::npos) << place();
  env.xdg_state_home = tree_.path() + "/xdg";
  EXPECT_NE(place().find("/xdg/bawn belongs"), std::string::npos) << place();
  env.bawn_state_dir = tree_.path() + "/own";
  EXPECT_NE(place().find("/own belongs"), std::string::npos) << place();
  env.bawn_state_dir = "relative";
  EXPECT_EQ(OpenStateDir(env).error().code, ErrorCode::kInvalidArgument);
  StateEnv nothing;
  nothing.uid = 1;
  EXPECT_EQ(OpenStateDir(nothing).error().code, ErrorCode::kFailedPrecondition);
}

TEST_F(StateTest, WiderModeIsRefusedAndNotRepaired) {
  tree_.Shell("mkdir -m 0755 state");
  Result<StateDir> state = OpenStateDir(Env());
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(state.error().message.find("0755"), std::string::npos) << state.error().message;
  EXPECT_EQ(tree_.Line("stat -c %a state"), "755");
  tree_.Shell("chmod 0700 state");
  EXPECT_TRUE(OpenStateDir(Env()));  // control
}

TEST_F(StateTest, LinkForeignOwnerAndWorkTreeAreRefused) {
  tree_.Shell("mkdir -m 0700 real; ln -s real state");
  EXPECT_EQ(OpenStateDir(Env()).error().rule, "state.private");
  tree_.Shell("rm state");
  StateEnv env = Env();
  env.uid = getuid() + 1;
  EXPECT_NE(OpenStateDir(env).error().message.find("belongs to uid"), std::string::npos);
  EXPECT_TRUE(OpenStateDir(Env()));  // control
  tree_.Shell("mkdir .git");
  EXPECT_TRUE(OpenStateDir(Env()));  // an empty directory of that name is no repository
  tree_.Shell("rmdir .git; git init -q");
  EXPECT_NE(OpenStateDir(Env()).error().message.find("work tree"), std::string::npos);
}

TEST_F(StateTest, SandboxDirectoryIsCompleteLockedAndPrivate) {
  StateDir state = Open();
  std::string id = NewId("sb_");
  Result<SandboxDir> dir = CreateSandboxDir(state, id);
  ASSERT_TRUE(dir) << dir.error().message;
  EXPECT_EQ(tree_.Line("cd state/sb/" + id + "; find . -type d | sort | tr '\\n' ' '"),
            ". ./initial ./jobs ./layers ./layers/0 ./layers/0/upper ./layers/0/work ");
  EXPECT_EQ(tree_.Line("find state/sb -type d ! -perm 0700"), "");
  EXPECT_FALSE(CreateSandboxDir(state, id));
  EXPECT_EQ(tree_.Line("ls -A state/sb"), id);  // the failed creation left nothing

  Result<SandboxDir> second = OpenSandboxDir(state, id, true);
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_NE(second.error().hint.find("live"), std::string::npos);
  EXPECT_TRUE(OpenSandboxDir(state, id, false));
  dir->lock.Reset();
  EXPECT_TRUE(OpenSandboxDir(state, id, true));
}

TEST_F(StateTest, OnlyIdsNameSandboxes) {
  StateDir state = Open();
  EXPECT_EQ(CreateSandboxDir(state, "../x").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(OpenSandboxDir(state, "sb_", true).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(OpenSandboxDir(state, NewId("sb_"), true).error().code, ErrorCode::kNotFound);
}

SandboxMeta Sample(const std::string& id) {
  SandboxMeta meta;
  meta.id = id;
  meta.name = "calm-otter-abc";
  meta.workspace_path = "/work/\xff\\odd\n\xe2\x80\xae name";
  meta.workspace_dev = UINT64_MAX;
  meta.workspace_ino = 7;
  meta.rung = "overlay";
  meta.opened_at_ns = INT64_MAX;
  meta.boottime_offset_ns = INT64_MIN;
  meta.base_commit = std::string(40, 'a');
  meta.command = {"sh", "-c", "printf '\x01'"};
  meta.covered = {".env", "a/\xc3"};
  meta.object_dirs = {"/x/objects"};
  meta.kept = true;
  meta.rev = 3;
  meta.state = "ended";
  JsonObject extra;
  extra["publish"] = "x";
  meta.extra = extra;
  return meta;
}

TEST_F(StateTest, MetaComesBackByteExact) {
  StateDir state = Open();
  SandboxDir dir = std::move(*CreateSandboxDir(state, NewId("sb_")));
  SandboxMeta meta = Sample(dir.id);
  ASSERT_TRUE(WriteMeta(dir, meta, true));
  Result<SandboxMeta> back = ReadMeta(dir);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(ToJsonText(ToJson(*back)), ToJsonText(ToJson(meta)));
  EXPECT_EQ(back->workspace_path, meta.workspace_path);
  EXPECT_EQ(back->workspace_dev, UINT64_MAX);
  EXPECT_EQ(back->boottime_offset_ns, INT64_MIN);
  EXPECT_EQ(back->command, meta.command);
  EXPECT_EQ(back->extra.GetString("publish"), "x");
}

TEST_F(StateTest, MetaOfTheWrongShapeIsRefused) {
  SandboxMeta meta = Sample(NewId("sb_"));
  for (const char* text :
       {"[]", "{}", R"({"meta_version":2})", R"({"meta_version":1,"id":"../x"})"}) {
    EXPECT_FALSE(MetaFromJson(*ParseJson(text))) << text;
  }
  for (std::string key : {"name", "rev", "kept", "covered", "extra", "opened_at_ns"}) {
    Json json = ToJson(meta);
    (*json.AsObject())[key] = key == "name" ? Json("\\q") : Json("x");
    Result<SandboxMeta> back = MetaFromJson(json);
    ASSERT_FALSE(back) << key;
    EXPECT_NE(back.error().message.find(key), std::string::npos);
  }
}

TEST_F(StateTest, ListShowsLiveEndedAndDamaged) {
  StateDir state = Open();
  EXPECT_TRUE(ListSandboxes(state)->empty());
  SandboxDir live = std::move(*CreateSandboxDir(state, NewId("sb_")));
  SandboxDir ended = std::move(*CreateSandboxDir(state, NewId("sb_")));
  SandboxDir damaged = std::move(*CreateSandboxDir(state, NewId("sb_")));
  SandboxDir lockless = std::move(*CreateSandboxDir(state, NewId("sb_")));
  for (SandboxDir* dir : {&live, &ended, &damaged, &lockless}) {
    ASSERT_TRUE(WriteMeta(*dir, Sample(dir->id), false));
  }
  ended.lock.Reset();
  damaged.lock.Reset();
  tree_.Shell("echo '{' > state/sb/" + damaged.id + "/meta.json; rm state/sb/" + lockless.id +
              "/lock; mkdir state/sb/other");
  Result<std::vector<ListedSandbox>> list = ListSandboxes(state);
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 4U);
  for (const ListedSandbox& listed : *list) {
    EXPECT_EQ(listed.live, listed.meta.id == live.id);
    EXPECT_EQ(listed.damaged.empty(), listed.meta.id == live.id || listed.meta.id == ended.id);
    EXPECT_EQ(listed.meta.name.empty(), listed.meta.id == damaged.id);
  }
}

TEST_F(StateTest, WhatCannotBeReadAtThatMomentIsNotDamaged) {
  StateDir state = Open();
  SandboxDir dir = std::move(*CreateSandboxDir(state, NewId("sb_")));
  ASSERT_TRUE(WriteMeta(dir, Sample(dir.id), false));
  dir.lock.Reset();
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  int failed = 0;
  for (rlim_t most = 3; most < 64; ++most) {  // each descriptor that it takes, one after the other
    rlimit few = {most, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    Result<std::vector<ListedSandbox>> list = ListSandboxes(state);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    failed += list ? 0 : 1;
    if (!list) EXPECT_EQ(list.error().sys_errno, EMFILE);
    if (list) EXPECT_TRUE(list->at(0).damaged.empty()) << list->at(0).damaged;
  }
  EXPECT_GT(failed, 2);
}

TEST_F(StateTest, ListingNeverLooksLikeAHolder) {
  StateDir state = Open();
  SandboxDir dir = std::move(*CreateSandboxDir(state, NewId("sb_")));
  dir.lock.Reset();
  UniqueFd probe = *sys::Openat2(dir.fd.get(), "lock", O_RDONLY);
  ASSERT_TRUE(sys::Flock(probe.get(), sys::LockKind::kExclusiveNonBlocking));
  Result<sys::Child> child = sys::Clone3(0);
  ASSERT_TRUE(child);
  if (child->pid == 0) {
    usleep(4000);  // a listing in another process that holds the lock for a moment
    _exit(0);
  }
  probe.Reset();  // now only the child has it
  EXPECT_TRUE(OpenSandboxDir(state, dir.id, true));
  bool ended = false;
  EXPECT_TRUE(sys::WaitPidfd(child->pidfd.get(), true, &ended));
}

TEST_F(StateTest, UnfinishedCreationsAreSwept) {
  StateDir state = Open();
  SandboxDir dir = std::move(*CreateSandboxDir(state, NewId("sb_")));
  std::string dead = kNewPrefix + NewId("sb_"), making = kNewPrefix + NewId("sb_"),
              fresh = kNewPrefix + NewId("sb_");
  tree_.Shell("cd state/sb; mkdir -p " + dead + "/layers " + making + " " + fresh + "; touch " +
              dead + "/lock " + making + "/lock");
  UniqueFd held = *sys::Openat2(state.fd.get(), "sb/" + making + "/lock", O_RDONLY);
  ASSERT_TRUE(sys::Flock(held.get(), sys::LockKind::kExclusiveNonBlocking));
  ASSERT_TRUE(SweepUnfinished(state));
  std::string left = tree_.Shell("ls -A state/sb");
  EXPECT_EQ(left.find(dead), std::string::npos);
  for (const std::string& name : {making, fresh, dir.id}) {
    EXPECT_NE(left.find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace bawn::workspace
