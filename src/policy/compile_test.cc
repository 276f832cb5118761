#include "policy/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "policy/explain.h"
#include "policy/fake_host_for_test.h"
#include "policy/identity.h"
#include "policy/paths.h"

namespace bawn::policy {
namespace {

using plan::OpKind;

size_t CountMounts(const Compiled& compiled) {
  return static_cast<size_t>(std::ranges::count_if(compiled.plan.ops, [](const plan::Op& op) {
    return op.kind != OpKind::kDir && op.kind != OpKind::kFile && op.kind != OpKind::kSymlink;
  }));
}

TEST(CompileTest, ShowsSystemSoftwareReadOnlyAndMergedLinksAsLinks) {
  Result<Compiled> compiled = FakeHost().Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  const plan::Op* usr = FindOp(*compiled, "/usr");
  ASSERT_NE(usr, nullptr);
  EXPECT_EQ(usr->kind, OpKind::kBind);
  EXPECT_TRUE(usr->read_only);
  EXPECT_NE(usr->lowers[0].ino, 0U) << "a swapped tree must be noticed";
  EXPECT_EQ(FindOp(*compiled, "/lib64")->kind, OpKind::kSymlink);
  EXPECT_EQ(FindOp(*compiled, "/lib64")->content, "usr/lib64");
  EXPECT_EQ(FindOp(*compiled, "/libx32"), nullptr) << "the machine has none";
  for (const plan::Op& op : compiled->plan.ops) {
    EXPECT_FALSE(IsAtOrBelow(op.target, "/run")) << op.target;
    EXPECT_FALSE(IsAtOrBelow(op.target, "/var/run")) << op.target;
  }
}

TEST(CompileTest, SystemDirectoriesThatAreNotRootsBecomeOverlays) {
  FakeHost host;
  host.Dir("/opt", 1000);
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  EXPECT_EQ(FindOp(*compiled, "/opt")->kind, OpKind::kOverlay);
  EXPECT_TRUE(FindOp(*compiled, "/opt")->upper.path.empty());
}

TEST(CompileTest, CoversRegistryCredentialsInsideSystemSoftware) {
  FakeHost host;
  host.File("/usr/etc/npmrc", "", 0);
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  EXPECT_EQ(FindOp(*compiled, "/usr/etc/npmrc")->lowers[0].path, "/dev/null");
  EXPECT_GT(IndexOfOp(*compiled, "/usr/etc/npmrc"), IndexOfOp(*compiled, "/usr"));
}

TEST(CompileTest, EtcHoldsOnlyTheListAndWhatBawnWrites) {
  FakeHost host;
  for (const char* name : {"shadow", "sudoers", "npmrc", "pip.conf", "gitconfig", "environment",
                           "wgetrc", "fstab", "profile"}) {
    host.File("/etc/" + std::string(name), "canary", 0);
  }
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  for (const char* name : {"shadow", "sudoers", "npmrc", "pip.conf", "gitconfig", "environment",
                           "wgetrc", "fstab", "profile"}) {
    EXPECT_EQ(FindOp(*compiled, "/etc/" + std::string(name)), nullptr) << name;
  }
  EXPECT_EQ(FindOp(*compiled, "/etc/services")->content, "ssh 22/tcp\n");
  EXPECT_EQ(FindOp(*compiled, "/etc/alternatives")->kind, OpKind::kBind);
}

TEST(CompileTest, TheZoneKeepsItsNameThroughChainsOfLinks) {
  FakeHost host;
  Result<Compiled> one = host.Compile();
  ASSERT_TRUE(one);
  EXPECT_EQ(FindOp(*one, "/etc/localtime")->content, "/usr/share/zoneinfo/Europe/Dublin");
  host.Link("/etc/localtime", "zone/current");
  host.Link("/etc/zone/current", "../../usr/share/zoneinfo/Asia/Tokyo");
  Result<Compiled> chain = host.Compile();
  ASSERT_TRUE(chain);
  EXPECT_EQ(FindOp(*chain, "/etc/localtime")->content, "zone/current");
  EXPECT_EQ(FindOp(*chain, "/etc/zone/current")->content, "../../usr/share/zoneinfo/Asia/Tokyo");
  host.Link("/etc/localtime", "/home/ada/zone");
  Result<Compiled> away = host.Compile();
  ASSERT_TRUE(away);
  EXPECT_EQ(FindOp(*away, "/etc/localtime"), nullptr) << "a link never widens the view";
}

TEST(CompileTest, LinksInACircleEnd) {
  FakeHost host;
  host.Link("/etc/localtime", "/etc/a");
  host.Link("/etc/a", "/etc/localtime");
  EXPECT_TRUE(host.Compile());
}

TEST(CompileTest, SshConfigurationIsCopiedSoThatItsOwnerIsTheUser) {
  FakeHost host;
  host.File("/etc/ssh/ssh_config", "Include /etc/ssh/ssh_config.d/*.conf\n", 0);
  host.Dir("/etc/ssh/ssh_config.d", 0);
  host.File("/etc/ssh/ssh_config.d/10-a.conf", "Host *\n", 0);
  host.File("/etc/ssh/ssh_config.d/sub/deep.conf", "Host *\n", 0);
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  EXPECT_EQ(FindOp(*compiled, "/etc/ssh/ssh_config.d/10-a.conf")->kind, OpKind::kFile);
  EXPECT_EQ(FindOp(*compiled, "/etc/ssh/ssh_config.d/sub/deep.conf"), nullptr);
  EXPECT_EQ(FindOp(*compiled, "/etc/ssh/ssh_config.d"), nullptr) << "never a bind";
}

TEST(CompileTest, KeepsMountsFewForAHomeWithoutToolchains) {
  Result<Compiled> compiled = FakeHost().Compile();
  ASSERT_TRUE(compiled);
  EXPECT_LE(CountMounts(*compiled), 25U) << ExplainPlan(compiled->plan);
}

TEST(CompileTest, MountsParentsBeforeChildrenAndTheWorkspaceAfterTheHome) {
  FakeHost host;
  host.Dir("/home/ada/.cargo/bin");
  host.Dir("/home/ada/lib");
  host.Dir("/home/ada/lib/deep");
  host.request.ro = {"/home/ada/lib/deep", "/home/ada/lib"};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  std::vector<const char*> order = {"/home/ada", "/home/ada/.cargo/bin", "/home/ada/lib",
                                    "/home/ada/lib/deep", "/home/ada/src/app"};
  for (size_t i = 1; i < order.size(); ++i) {
    EXPECT_LT(IndexOfOp(*compiled, order[i - 1]), IndexOfOp(*compiled, order[i])) << order[i];
  }
}

TEST(CompileTest, AHomeThatMayNotBeCoveredIsReplaced) {
  for (const char* home :
       {"", "/", "/usr/sbin", "/etc/x", "/dev", "/run/user/1", "/tmp", "/opt/a"}) {
    FakeHost host;
    host.facts.home = home;
    host.workspace.path = "/srv/app";
    host.workspace.ops[0].target = "/srv/app";
    host.request.cwd = "";
    Result<Compiled> compiled = host.Compile();
    ASSERT_TRUE(compiled) << home;
    EXPECT_EQ(EnvOf(*compiled, "HOME"), "/home/user") << home;
    EXPECT_EQ(FindOp(*compiled, "/home/user")->kind, OpKind::kTmpfs) << home;
  }
}

TEST(CompileTest, RootsJobsRunUnderIdsOfARange) {
  FakeHost host;
  host.facts.uid = 0;
  host.facts.gid = 0;
  host.facts.user_name = "root";
  host.facts.groups = {{0, "root"}};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  EXPECT_TRUE(compiled->plan.ids_from_range);
  EXPECT_NE(compiled->plan.uid, 0U);
  EXPECT_NE(compiled->plan.gid, 0U);
  EXPECT_EQ(EnvOf(*compiled, "USER"), "user");
}

TEST(SecretsTest, AreFilesOfTheUserAndNeverText) {
  FakeHost host;
  host.request.secrets = {{"NPM_TOKEN", "canary-value"}};
  host.policy.secrets = {"NPM_TOKEN"};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  const plan::Op* file = FindOp(*compiled, "/.bawn/secrets/NPM_TOKEN");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->mode, 0400U);
  EXPECT_EQ(file->content, "canary-value");
  EXPECT_EQ(FindOp(*compiled, "/.bawn/secrets")->mode, 0700U);
  EXPECT_EQ(EnvOf(*compiled, "BAWN_SECRETS_DIR"), "/.bawn/secrets");
  std::string text = ExplainPlan(compiled->plan) + ExplainJob(compiled->job) +
                     ExplainDecisions(compiled->decisions);
  EXPECT_EQ(text.find("canary-value"), std::string::npos);
  EXPECT_NE(text.find("/.bawn/secrets/NPM_TOKEN 0400 secret"), std::string::npos);
}

TEST(SecretsTest, RefusesNamesThatAreNoFileNamesAndValuesThatAreMissing) {
  for (const char* name : {"", ".", "..", "a/b", ".x", "a\nb"}) {
    FakeHost host;
    host.request.secrets = {{name, "v"}};
    EXPECT_FALSE(host.Compile()) << name;
  }
  FakeHost host;
  host.policy.secrets = {"A"};
  EXPECT_EQ(host.Compile().error().rule, "secrets.missing");
  host.request.secrets = {{"A", std::string(64 << 10, 'x')}};
  EXPECT_TRUE(host.Compile());
  host.request.secrets[0].second += "x";
  EXPECT_FALSE(host.Compile());
}

TEST(JobTest, StartsWhereTheCallerIsWhenTheViewHoldsIt) {
  struct CwdCase {
    const char* asked;
    const char* obtained;
  };
  constexpr CwdCase kCases[] = {
      {"/home/ada/src/app/sub", "/home/ada/src/app/sub"},
      {"", "/home/ada/src/app"},
      {"/home/ada", "/home/ada"},
      {"/usr/share", "/usr/share"},
      {"/tmp", "/tmp"},
      {"/tmp/x", "/home/ada/src/app"},
      {"/home/ada/other", "/home/ada/src/app"},
      {"/home/ada/src/app/../../other", "/home/ada/src/app"},
      {"/srv", "/home/ada/src/app"},
      {"relative", "/home/ada/src/app"},
  };
  size_t mounts = FakeHost().Compile()->plan.ops.size();
  for (const CwdCase& one : kCases) {
    FakeHost host;
    host.request.cwd = one.asked;
    Result<Compiled> compiled = host.Compile();
    ASSERT_TRUE(compiled);
    EXPECT_EQ(compiled->job.cwd, one.obtained) << one.asked;
    EXPECT_EQ(compiled->plan.ops.size(), mounts) << "A-03: it never widens the view";
  }
}

TEST(JobTest, NeedsACommand) {
  FakeHost host;
  host.request.argv = {};
  EXPECT_FALSE(host.Compile());
  host.request.argv = {std::string("a\0b", 3)};
  EXPECT_FALSE(host.Compile());
}

TEST(NoneTest, BuildsNothingAndStillFiltersTheEnvironment) {
  FakeHost host;
  host.facts.environment.push_back("GITHUB_TOKEN=x");
  Result<Compiled> compiled = host.Compile(plan::Level::kNone);
  ASSERT_TRUE(compiled);
  EXPECT_TRUE(compiled->plan.ops.empty());
  EXPECT_TRUE(compiled->plan.landlock.empty());
  EXPECT_EQ(FindDecision(*compiled, "network")->verdict, plan::Verdict::kAllow);
  EXPECT_EQ(EnvOf(*compiled, "HOME"), "/home/ada");
  EXPECT_EQ(EnvOf(*compiled, "GITHUB_TOKEN"), "(unset)");
}

TEST(CompileTest, RefusesAProfileWhoseBaseIsNotResolved) {
  FakeHost host;
  host.policy.extends = "default";
  EXPECT_EQ(host.Compile().error().rule, "profile.extends");
  host.policy.extends.clear();
  EXPECT_TRUE(host.Compile());
}

TEST(DecisionTest, EachNamesRuleFileAndReason) {
  FakeHost host;
  host.Dir("/home/ada/.cache/pip");
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled);
  for (const plan::Decision& decision : compiled->decisions) {
    EXPECT_FALSE(decision.rule_id.empty()) << decision.subject;
    EXPECT_FALSE(decision.file.empty()) << decision.subject;
    EXPECT_FALSE(decision.reason.empty()) << decision.subject;
  }
  // Every mount of the host's own files has one.
  for (const plan::Op& op : compiled->plan.ops) {
    bool hosts = (op.kind == OpKind::kBind || op.kind == OpKind::kOverlay) && !op.devices;
    if (hosts) EXPECT_NE(FindDecision(*compiled, "view:" + op.target), nullptr) << op.target;
  }
}

TEST(ProbeTest, NamesEachPathOnceAndWhatItReads) {
  FakeHost host;
  host.request.ro = {"~/.config", "relative/is/ignored"};
  std::vector<ProbePath> probes = PathsToProbe(host.policy, host.request, "/home/ada");
  EXPECT_TRUE(std::ranges::is_sorted(probes, {}, &ProbePath::path));
  std::set<std::string> paths;
  for (const ProbePath& probe : probes) {
    EXPECT_TRUE(paths.insert(probe.path).second) << probe.path;
    bool protected_content = probe.content && !IsBelow(probe.path, "/etc");
    EXPECT_FALSE(protected_content) << probe.path << ": only /etc is read";
  }
  EXPECT_FALSE(paths.contains("/home/ada/.config")) << "one bad path and none of the list counts";
  host.request.ro = {"~/.config"};
  probes = PathsToProbe(host.policy, host.request, "/home/ada");
  EXPECT_TRUE(std::ranges::any_of(
      probes, [](const ProbePath& probe) { return probe.path == "/home/ada/.config/gh"; }));
}

}  // namespace
}  // namespace bawn::policy
