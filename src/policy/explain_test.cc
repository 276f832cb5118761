#include "policy/explain.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "policy/builtin.h"
#include "policy/fake_host_for_test.h"

namespace bawn::policy {
namespace {

std::string GoldenPath(const std::string& name) {
  return std::string(BAWN_GOLDEN_DIR) + "/" + name;
}

// BAWN_ACCEPT_GOLDEN=1 writes the file instead: look at the difference before it is committed.
void ExpectGolden(const std::string& name, const std::string& text) {
  if (std::getenv("BAWN_ACCEPT_GOLDEN") != nullptr) {
    std::ofstream(GoldenPath(name), std::ios::binary) << text;
  }
  std::ifstream file(GoldenPath(name), std::ios::binary);
  std::stringstream kept;
  kept << file.rdbuf();
  EXPECT_EQ(text, kept.str()) << name << "; BAWN_ACCEPT_GOLDEN=1 accepts it";
}

std::string Explain(const Compiled& compiled) {
  return ExplainPlan(compiled.plan) + "\n" + ExplainJob(compiled.job) + "\n" +
         ExplainDecisions(compiled.decisions);
}

TEST(GoldenPlanTest, DefaultProfileInAHomeWithoutToolchains) {
  FakeHost host;
  host.policy = *BuiltinPolicy("default");
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  ExpectGolden("plan_default.txt", Explain(*compiled));
}

TEST(GoldenPlanTest, EverythingAskedFor) {
  FakeHost host;
  host.policy = *BuiltinPolicy("browser");
  host.policy.caches = {"pip"};
  host.policy.ro = {{"~/.config", {"/etc/bawn/profiles/all.yaml", 3}}};
  host.request.rw = {"/data/out"};
  host.request.hide = {"/opt", "/home/ada/src/app/private"};
  host.request.show = {"~/.netrc"};
  host.request.env = {"MODE=\x1b[31mred"};
  host.request.secrets = {{"NPM_TOKEN", "canary-value"}};
  host.request.limits.memory_bytes = uint64_t{2} << 30;
  host.request.limits.best_effort = {"memory"};
  host.request.private_dir = "/state/sb/p";
  host.request.pty = true;
  host.request.term = "xterm-256color";
  for (const char* path :
       {"/data/out", "/home/ada/.config", "/home/ada/.config/gh", "/home/ada/.cache/pip",
        "/home/ada/.cargo/bin", "/home/ada/src/app/private"}) {
    host.Dir(path);
  }
  host.File("/home/ada/.netrc");
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  ExpectGolden("plan_everything.txt", Explain(*compiled));
}

TEST(ExplainTest, IsTerminalSafeAndDeterministic) {
  FakeHost host;
  host.request.argv = {"\x1b]0;owned\x07", "a\nb"};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  std::string text = Explain(*compiled);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("\\x1b"), std::string::npos);
  EXPECT_NE(text.find("a\\x0ab"), std::string::npos);
  EXPECT_EQ(text, Explain(*host.Compile()));
}

TEST(BuiltinPolicyTest, AreThreeAndDifferByTheFilterOnly) {
  EXPECT_EQ(BuiltinPolicyNames().size(), 3U);
  for (std::string_view name : BuiltinPolicyNames()) {
    std::optional<Policy> policy = BuiltinPolicy(name);
    ASSERT_TRUE(policy) << name;
    EXPECT_EQ(policy->name, name);
    EXPECT_EQ(policy->digest.size(), 64U);
    EXPECT_FALSE(policy->sources.empty());
    EXPECT_EQ(policy->syscall_profiles.size(), name == "default" ? 0U : 1U);
  }
  EXPECT_NE(BuiltinPolicy("default")->digest, BuiltinPolicy("debug")->digest);
  EXPECT_FALSE(BuiltinPolicy("defaul"));
  EXPECT_FALSE(BuiltinPolicy(""));
}

}  // namespace
}  // namespace bawn::policy
