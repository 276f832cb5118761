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

TEST(IdentityTest, EveryIdThatShowsHasAName) {
  FakeHost host;
  host.facts.groups.push_back({44, "vi:deo\nroot::0:0"});
  host.facts.groups.push_back({45, "sudo"});
  Identity user = InnerIdentity(host.facts, true);
  std::string passwd = PasswdText(user, "/home/ada"), group = GroupText(user, host.facts);
  EXPECT_EQ(passwd,
            "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
  EXPECT_EQ(group,
            "root:x:0:\nnogroup:x:65534:\nada:x:1000:\nsudo:x:27:ada\nusers:x:100:ada\n"
            "group44:x:44:ada\ngroup45:x:45:ada\n");
}

TEST(IdentityTest, HostileNamesOfTheHostBecomePlainOnes) {
  FakeHost host;
  for (const char* name : {"a:b", "a\nb", "", "-x", "123", "root", "nobody", "a b"}) {
    host.facts.user_name = name;
    EXPECT_EQ(InnerIdentity(host.facts, true).name, "user") << name;
  }
  host.facts.shell = "/bin/ba:sh";
  EXPECT_EQ(InnerIdentity(host.facts, true).shell, "/bin/sh");
}

TEST(IdentityTest, NamesResolveOnLoopbackAndNothingOfTheHostShows) {
  Result<Compiled> compiled = FakeHost().Compile();
  ASSERT_TRUE(compiled);
  const std::string& hosts = FindOp(*compiled, "/etc/hosts")->content;
  EXPECT_NE(hosts.find("127.0.0.1 localhost bawn\n"), std::string::npos);
  EXPECT_NE(hosts.find("::1 localhost"), std::string::npos);
  EXPECT_EQ(compiled->plan.hostname, "bawn");
  EXPECT_NE(FindOp(*compiled, "/etc/nsswitch.conf")->content.find("hosts: files dns\n"),
            std::string::npos);
  EXPECT_EQ(FindOp(*compiled, "/etc/machine-id")->content.size(), 33U);
}

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
