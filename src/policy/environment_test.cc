#include "policy/environment.h"

#include <gtest/gtest.h>

#include <set>

#include "policy/fake_host_for_test.h"

namespace bawn::policy {
namespace {

struct TierCase {
  std::string_view name;
  EnvTier tier;
};
constexpr TierCase kTierCases[] = {
    {"LD_PRELOAD", EnvTier::kHook},
    {"LD_LIBRARY_PATH", EnvTier::kHook},
    {"ld_preload", EnvTier::kHook},
    {"GCONV_PATH", EnvTier::kHook},
    {"BASH_ENV", EnvTier::kHook},
    {"BASH_FUNC_ls%%", EnvTier::kHook},
    {"ENV", EnvTier::kHook},
    {"PYTHONSTARTUP", EnvTier::kHook},
    {"PERL5OPT", EnvTier::kHook},
    {"NODE_OPTIONS", EnvTier::kHook},
    {"GIT_SSH_COMMAND", EnvTier::kHook},
    {"GIT_DIR", EnvTier::kHook},
    {"GIT_CONFIG_COUNT", EnvTier::kHook},
    {"MAKEFLAGS", EnvTier::kHook},
    {"SSH_AUTH_SOCK", EnvTier::kDoor},
    {"DBUS_SESSION_BUS_ADDRESS", EnvTier::kDoor},
    {"DOCKER_HOST", EnvTier::kDoor},
    {"XDG_RUNTIME_DIR", EnvTier::kDoor},
    {"BAWN_SANDBOX", EnvTier::kOurs},
    {"BAWN_LEVEL", EnvTier::kOurs},
    {"USER", EnvTier::kOurs},
    {"PWD", EnvTier::kOurs},
    {"GITHUB_TOKEN", EnvTier::kCredential},
    {"AWS_SECRET_ACCESS_KEY", EnvTier::kCredential},
    {"AWS_REGION", EnvTier::kCredential},
    {"DB_PASSWORD", EnvTier::kCredential},
    {"npm_config__auth", EnvTier::kCredential},
    {"STRIPE_KEY", EnvTier::kCredential},
    {"OPENAI_API_KEY", EnvTier::kCredential},
    {"DATABASE_URL", EnvTier::kCredential},
    {"LANG", EnvTier::kReviewed},
    {"LC_ALL", EnvTier::kReviewed},
    {"TERM", EnvTier::kReviewed},
    {"TZ", EnvTier::kReviewed},
    {"CI", EnvTier::kReviewed},
    {"GIT_AUTHOR_EMAIL", EnvTier::kReviewed},
    {"TOKENIZERS_PARALLELISM", EnvTier::kKept},
    {"GIT_TERMINAL_PROMPT", EnvTier::kKept},
    {"lang", EnvTier::kOther},
    {"FOO", EnvTier::kOther},
    {"PYTHONPATH", EnvTier::kOther},
    {"XLD_PRELOAD", EnvTier::kOther},
    {"MONKEY", EnvTier::kOther},
};

TEST(EnvironmentTest, PutsEachNameIntoItsTier) {
  for (const TierCase& one : kTierCases) {
    EXPECT_EQ(static_cast<int>(JudgeVariable(one.name).tier), static_cast<int>(one.tier))
        << one.name;
  }
}

TEST(EnvironmentTest, SetsItsOwnAndPassesReviewedNames) {
  FakeHost host;
  host.facts.environment.insert(host.facts.environment.end(),
                                {"TZ=Europe/Dublin", "HOME=/elsewhere", "FOO=1", "USER=eve"});
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(EnvOf(*compiled, "HOME"), "/home/ada");
  EXPECT_EQ(EnvOf(*compiled, "USER"), "ada");
  EXPECT_EQ(EnvOf(*compiled, "LOGNAME"), "ada");
  EXPECT_EQ(EnvOf(*compiled, "SHELL"), "/bin/bash");
  EXPECT_EQ(EnvOf(*compiled, "PWD"), "/home/ada/src/app");
  EXPECT_EQ(EnvOf(*compiled, "BAWN_SANDBOX"), "sb_test");
  EXPECT_EQ(EnvOf(*compiled, "TZ"), "Europe/Dublin");
  EXPECT_EQ(EnvOf(*compiled, "LANG"), "C.UTF-8");
  EXPECT_EQ(EnvOf(*compiled, "FOO"), "(unset)");
}

TEST(EnvironmentTest, RefusesHooksDoorsOursAndCredentialsWhateverAsks) {
  for (const TierCase& one : kTierCases) {
    bool refused = IsRefusedTier(one.tier);
    FakeHost by_option, by_pass, by_profile;
    std::string name(one.name);
    by_option.request.env = {name + "=x"};
    by_pass.request.pass_env = {name};
    by_profile.policy.env = {{name, "x", {"/etc/bawn/profiles/p.yaml", 7}}};
    for (const FakeHost* host : {&by_option, &by_pass, &by_profile}) {
      Result<Compiled> compiled = host->Compile();
      ASSERT_EQ(compiled.has_value(), !refused) << name;
      if (!refused) continue;
      EXPECT_EQ(compiled.error().rule, TierRule(one.tier)) << name;
      EXPECT_NE(compiled.error().message.find(name), std::string::npos);
    }
  }
}

TEST(EnvironmentTest, ARefusalCitesFileAndLine) {
  FakeHost host;
  host.policy.env = {{"LD_PRELOAD", "x", {"/etc/bawn/profiles/p.yaml", 7}}};
  Result<Compiled> compiled = host.Compile();
  ASSERT_FALSE(compiled);
  EXPECT_TRUE(compiled.error().message.starts_with("/etc/bawn/profiles/p.yaml:7: env.set"))
      << compiled.error().message;
}

TEST(EnvironmentTest, NotesWhatItKeptFromTheCaller) {
  FakeHost host;
  host.facts.environment.push_back("GITHUB_TOKEN=ghp_canary");
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  const plan::Decision* decision = FindDecision(*compiled, "env:GITHUB_TOKEN");
  ASSERT_NE(decision, nullptr);
  EXPECT_EQ(decision->verdict, plan::Verdict::kDeny);
  EXPECT_EQ(decision->rule_id, "env.credential");
  for (const std::string& entry : compiled->job.env) {
    EXPECT_EQ(entry.find("ghp_canary"), std::string::npos);
  }
  for (const plan::Decision& one : compiled->decisions) {
    EXPECT_EQ((one.subject + one.reason + one.remedy).find("ghp_canary"), std::string::npos);
  }
}

TEST(EnvironmentTest, PassesAndSetsWhatIsAskedFor) {
  FakeHost host;
  host.facts.environment.push_back("FOO=caller");
  host.request.pass_env = {"FOO", "NOT_THERE"};
  host.request.env = {"BAR=a=b", "EMPTY=", "LANG=de_DE.UTF-8"};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(EnvOf(*compiled, "FOO"), "caller");
  EXPECT_EQ(EnvOf(*compiled, "BAR"), "a=b");
  EXPECT_EQ(EnvOf(*compiled, "EMPTY"), "");
  EXPECT_EQ(EnvOf(*compiled, "LANG"), "de_DE.UTF-8");
  EXPECT_EQ(EnvOf(*compiled, "NOT_THERE"), "(unset)");
  EXPECT_EQ(FindDecision(*compiled, "env:NOT_THERE")->rule_id, "env.unset");
}

TEST(EnvironmentTest, RefusesWhatIsNoVariable) {
  for (const char* bad : {"NOEQUALS", "=x"}) {
    FakeHost host;
    host.request.env = {bad};
    EXPECT_FALSE(host.Compile()) << bad;
  }
  EXPECT_TRUE(IsVariableName(std::string(255, 'A')));
  EXPECT_FALSE(IsVariableName(std::string(256, 'A')));
}

TEST(EnvironmentTest, PathHoldsOnlyWhatTheViewHas) {
  FakeHost host;
  host.Dir("/home/ada/.cargo/bin");
  host.facts.environment[0] =
      "PATH=.:/home/ada/.cargo/bin:/home/ada/secret/bin:/home/ada/src/app/.venv/bin:/usr/bin:"
      "/home/ada/.local/bin:node_modules/.bin::/mnt/c:/usr/games";
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  EXPECT_EQ(EnvOf(*compiled, "PATH"),
            "/home/ada/.cargo/bin:/home/ada/src/app/.venv/bin:/usr/bin:/usr/games:/usr/local/bin:"
            "/bin:/usr/local/sbin:/usr/sbin:/sbin");
}

TEST(EnvironmentTest, IsInOrderAndWithoutDuplicates) {
  FakeHost host;
  host.request.env = {"ZED=1", "ALPHA=1", "ZED=2"};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  EXPECT_EQ(EnvOf(*compiled, "ZED"), "2");
  EXPECT_TRUE(std::is_sorted(compiled->job.env.begin(), compiled->job.env.end()));
  std::set<std::string> names;
  for (const std::string& entry : compiled->job.env) {
    EXPECT_TRUE(names.insert(entry.substr(0, entry.find('='))).second) << entry;
  }
}

}  // namespace
}  // namespace bawn::policy
