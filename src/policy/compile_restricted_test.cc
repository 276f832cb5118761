#include <gtest/gtest.h>

#include <set>

#include "policy/compile.h"
#include "policy/fake_host_for_test.h"

namespace bawn::policy {
namespace {

TEST(RestrictedTest, HasNoOpsAndAnAllowlistOfHostPaths) {
  FakeHost host;
  host.workspace.path = "/state/sb/copy";
  host.workspace.writable = {"/state/sb/copy"};
  host.request.cwd = "/state/sb/copy/sub";
  host.request.private_dir = "/state/sb/p";
  host.Dir("/data/set");
  host.request.ro = {"/data/set"};
  Result<Compiled> compiled = host.Compile(plan::Level::kRestricted);
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_TRUE(compiled->plan.ops.empty());
  std::set<std::string> writable, readable;
  for (const plan::LandlockRule& rule : compiled->plan.landlock) {
    (rule.rights == plan::PathRights::kWrite ? writable : readable).insert(rule.path);
  }
  EXPECT_EQ(writable,
            (std::set<std::string>{"/state/sb/copy", "/state/sb/p/home", "/state/sb/p/tmp"}));
  EXPECT_TRUE(readable.contains("/usr"));
  EXPECT_TRUE(readable.contains("/data/set"));
  EXPECT_FALSE(readable.contains("/"));
  EXPECT_FALSE(readable.contains("/home/ada"));
  EXPECT_TRUE(readable.contains("/proc")) << "read only: oom_score_adj of others is there";
  EXPECT_FALSE(readable.contains("/dev/pts")) << "the caller's terminals";
  EXPECT_EQ(EnvOf(*compiled, "GIT_CONFIG_NOSYSTEM"), "1");
  EXPECT_EQ(FindDecision(*compiled, "network")->verdict, plan::Verdict::kDeny);
  EXPECT_EQ(EnvOf(*compiled, "HOME"), "/state/sb/p/home");
  EXPECT_EQ(EnvOf(*compiled, "TMPDIR"), "/state/sb/p/tmp");
  EXPECT_EQ(compiled->job.cwd, "/state/sb/copy/sub");
}

TEST(RestrictedTest, RefusesWhatAnAllowlistCannotSay) {
  FakeHost hide;
  hide.request.hide = {"/usr/share"};
  EXPECT_EQ(hide.Compile(plan::Level::kRestricted).error().rule, "view.hide");
  FakeHost secret;
  secret.request.secrets = {{"A", "b"}};
  EXPECT_EQ(secret.Compile(plan::Level::kRestricted).error().rule, "secrets.level");
  FakeHost hole;
  hole.Dir("/home/ada/.config");
  hole.Dir("/home/ada/.config/gh");
  hole.request.ro = {"~/.config"};
  EXPECT_EQ(hole.Compile(plan::Level::kRestricted).error().rule, "view.protected");
  EXPECT_TRUE(hole.Compile(plan::Level::kIsolated)) << "where it can be covered";
}

}  // namespace
}  // namespace bawn::policy
