#include <gtest/gtest.h>

#include <algorithm>

#include "policy/compile.h"
#include "policy/fake_host_for_test.h"

namespace bawn::policy {
namespace {

using plan::OpKind;

TEST(ShownTest, ToolchainsAreReadOnlyOverlaysChosenByPath) {
  FakeHost host;
  host.Dir("/home/ada/.cargo/bin");
  host.Dir("/home/ada/.rustup");
  host.Dir("/home/ada/.cargo/registry");
  host.Dir("/home/ada/.nvm/versions");
  host.Dir("/home/ada/.local/share/uv/python");
  host.File("/home/ada/.local/share/pnpm/pnpm");
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  for (const char* path : {".cargo/bin", ".rustup", ".cargo/registry", ".local/share/uv/python"}) {
    const plan::Op* op = FindOp(*compiled, "/home/ada/" + std::string(path));
    ASSERT_NE(op, nullptr) << path;
    EXPECT_EQ(op->kind, OpKind::kOverlay) << path;
    EXPECT_TRUE(op->upper.path.empty()) << path;
    EXPECT_TRUE(op->optional) << path;
  }
  EXPECT_EQ(FindOp(*compiled, "/home/ada/.nvm/versions"), nullptr) << "not on PATH";
  EXPECT_EQ(FindOp(*compiled, "/home/ada/.local/share/pnpm/pnpm"), nullptr) << "not on PATH";
  EXPECT_EQ(FindDecision(*compiled, "view:/home/ada/.rustup")->rule_id, "view.toolchain.rustup");
  host.facts.environment[0] =
      "PATH=/home/ada/.nvm/versions/node/v20/bin:/home/ada/.local/share/pnpm";
  Result<Compiled> other = host.Compile();
  ASSERT_TRUE(other);
  EXPECT_NE(FindOp(*other, "/home/ada/.nvm/versions"), nullptr);
  EXPECT_EQ(FindOp(*other, "/home/ada/.cargo/bin"), nullptr);
  const plan::Op* pnpm = FindOp(*other, "/home/ada/.local/share/pnpm/pnpm");
  ASSERT_NE(pnpm, nullptr);
  EXPECT_EQ(pnpm->kind, OpKind::kBind);
  EXPECT_TRUE(pnpm->read_only);
}

TEST(ShownTest, CachesAreHiddenUnlessNamedAndThenWriteToTheSandboxsOwnPlace) {
  FakeHost host;
  host.Dir("/home/ada/.cache/pip");
  host.Dir("/home/ada/.m2/repository");
  Result<Compiled> plain = host.Compile();
  ASSERT_TRUE(plain);
  EXPECT_EQ(FindOp(*plain, "/home/ada/.cache/pip"), nullptr);
  EXPECT_TRUE(FindOp(*plain, "/home/ada/.m2/repository")->upper.path.empty());
  EXPECT_TRUE(plain->make_dirs.empty());
  host.policy.caches = {"pip", "maven"};
  host.request.private_dir = "/state/sb/p";
  Result<Compiled> named = host.Compile();
  ASSERT_TRUE(named);
  EXPECT_EQ(FindOp(*named, "/home/ada/.cache/pip")->upper.path, "/state/sb/p/caches/pip/upper");
  EXPECT_EQ(FindOp(*named, "/home/ada/.m2/repository")->work.path, "/state/sb/p/caches/maven/work");
  EXPECT_EQ(named->make_dirs,
            (std::vector<std::string>{
                "/state/sb/p/caches", "/state/sb/p/caches/maven", "/state/sb/p/caches/maven/upper",
                "/state/sb/p/caches/maven/work", "/state/sb/p/caches/pip",
                "/state/sb/p/caches/pip/upper", "/state/sb/p/caches/pip/work"}));
  host.policy.caches = {"pipp"};
  EXPECT_EQ(host.Compile().error().hint, "did you mean 'pip'?");
  host.policy.caches = {"rustup"};
  EXPECT_FALSE(host.Compile()) << "programs are never writable";
}

TEST(ShownTest, WhatIsAskedForIsAnOverlayABindOrARefusal) {
  FakeHost host;
  host.Dir("/data/set");
  host.File("/data/file");
  host.Socket("/data/socket");
  host.Link("/data/link", "set");
  struct AskCase {
    const char* path;
    const char* rule;  // empty: shown
  };
  constexpr AskCase kReadCases[] = {
      {"/data/set", ""},
      {"/data/file", ""},
      {"/data/socket", "view.special"},
      {"/data/link", "view.symlink"},
      {"/data/missing", "view.missing"},
      {"/", "view.whole"},
      {"/etc", "view.whole"},
      {"/home", "view.home"},
      {"/home/ada", "view.home"},
      {"/run/user/1000", "view.refused"},
      {"/var/run/docker.sock", "view.refused"},
      {"/proc/1", "view.refused"},
      {"/sys", "view.refused"},
      {"/dev/kvm", "view.refused"},
      {"/.bawn/secrets", "view.refused"},
      {"/home/ada/src/app", "view.ro.workspace"},
      {"/home/ada/src/app/sub", "view.ro.workspace"},
      {"/home/ada/.ssh", "view.protected.never"},
      {"/home/ada/.aws/credentials", "view.protected"},
      {"/etc/shadow", "view.protected.never"},
      {"/etc/npmrc", "view.protected"},
      {"data", ""},
  };
  for (const AskCase& one : kReadCases) {
    host.request.ro = {one.path};
    Result<Compiled> compiled = host.Compile();
    if (one.path[0] != '/') {
      EXPECT_FALSE(compiled) << one.path;
      continue;
    }
    EXPECT_EQ(compiled ? "" : compiled.error().rule, one.rule) << one.path;
  }
  host.request.ro = {"/data/set", "/data/file"};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  EXPECT_EQ(FindOp(*compiled, "/data/set")->kind, OpKind::kOverlay) << "RT-05";
  EXPECT_EQ(FindOp(*compiled, "/data/file")->kind, OpKind::kBind);
  EXPECT_TRUE(FindOp(*compiled, "/data/file")->read_only);
  EXPECT_TRUE(compiled->direct_writes.empty());
}

TEST(ShownTest, DirectWritesAreListedAndNeverReachWhatRunsOnTheHost) {
  FakeHost host;
  for (const char* path : {"/data/out", "/home/ada/out", "/home/ada/other/.git/hooks",
                           "/home/ada/.config", "/home/ada/.config/gh", "/tmp/share"}) {
    host.Dir(path);
  }
  struct WriteCase {
    const char* path;
    const char* rule;
  };
  constexpr WriteCase kCases[] = {
      {"/data/out", ""},
      {"/home/ada/out", ""},
      {"/tmp/share", ""},
      {"/usr/local", "view.rw.system"},
      {"/usr", "view.rw.system"},
      {"/var/lib", "view.rw.system"},
      {"/etc/cron.d", "view.rw.system"},
      {"/tmp", "view.rw.shared"},
      {"/home/ada", "view.home"},
      {"/home/ada/src", "view.rw.workspace"},
      {"/home/ada/src/app/out", "view.rw.workspace"},
      {"/home/ada/other/.git", "view.rw.git"},
      {"/home/ada/other/.git/hooks", "view.rw.git"},
      {"/home/ada/.config", "view.protected"},
      {"/home/ada/.aws", "view.protected"},
      {"/home/ada/.local/state/bawn", "view.protected.never"},
      {"/run", "view.refused"},
  };
  for (const WriteCase& one : kCases) {
    host.request.rw = {one.path};
    Result<Compiled> compiled = host.Compile();
    EXPECT_EQ(compiled ? "" : compiled.error().rule, one.rule) << one.path;
    if (!compiled) continue;
    EXPECT_EQ(compiled->direct_writes, std::vector<std::string>{one.path});
    EXPECT_FALSE(FindOp(*compiled, one.path)->read_only);
    EXPECT_TRUE(std::ranges::any_of(compiled->plan.landlock, [&](const auto& rule) {
      return rule.path == one.path && rule.rights == plan::PathRights::kWrite;
    }));
  }
}

TEST(ShownTest, ARefusalOfAProfileCitesFileAndLine) {
  FakeHost host;
  host.policy.ro = {{"~/.ssh", {"/etc/bawn/profiles/p.yaml", 4}}};
  Result<Compiled> compiled = host.Compile();
  ASSERT_FALSE(compiled);
  EXPECT_TRUE(compiled.error().message.starts_with("/etc/bawn/profiles/p.yaml:4: view.ro "))
      << compiled.error().message;
}

TEST(HideTest, TakesOutWhatTheViewWouldShow) {
  FakeHost host;
  host.Dir("/usr/share/doc", 0);
  host.Dir("/home/ada/src/app/private");
  host.File("/home/ada/src/app/notes.txt");
  host.Dir("/home/ada/.cargo/bin");
  host.request.hide = {"/opt",
                       "/usr/share/doc",
                       "/home/ada/src/app/private",
                       "/home/ada/src/app/notes.txt",
                       "/home/ada/.cargo",
                       "/srv/none"};
  host.Dir("/home/ada/.cargo");
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(FindOp(*compiled, "/opt"), nullptr);
  EXPECT_EQ(FindOp(*compiled, "/home/ada/.cargo/bin"), nullptr);
  EXPECT_EQ(FindOp(*compiled, "/home/ada/.cargo"), nullptr) << "the private home needs no cover";
  EXPECT_EQ(FindOp(*compiled, "/usr/share/doc")->kind, OpKind::kTmpfs);
  EXPECT_EQ(FindOp(*compiled, "/home/ada/src/app/private")->kind, OpKind::kTmpfs);
  EXPECT_EQ(FindOp(*compiled, "/home/ada/src/app/notes.txt")->lowers[0].path, "/dev/null");
  EXPECT_GT(IndexOfOp(*compiled, "/home/ada/src/app/private"),
            IndexOfOp(*compiled, "/home/ada/src/app"));
  EXPECT_EQ(compiled->covered,
            (std::vector<std::string>{"/home/ada/src/app/notes.txt", "/home/ada/src/app/private",
                                      "/usr/share/doc"}));
  EXPECT_EQ(EnvOf(*compiled, "PATH").find(".cargo"), std::string::npos);
}

TEST(HideTest, RefusesWhatNoJobCanMiss) {
  for (const char* path :
       {"/home/ada", "/home/ada/src/app", "/home/ada/src", "/", "/tmp", "/dev", "/proc/sys"}) {
    FakeHost host;
    host.request.hide = {path};
    EXPECT_FALSE(host.Compile()) << path;
  }
}

}  // namespace
}  // namespace bawn::policy
