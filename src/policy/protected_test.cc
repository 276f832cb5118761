#include "policy/protected.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "policy/fake_host_for_test.h"
#include "policy/paths.h"
#include "policy/view/etc_table.h"
#include "policy/view/system_table.h"
#include "policy/view/toolchain_table.h"

namespace bawn::policy {
namespace {

// RT-03: where tools keep what a payload must not have. Written out here, not taken from the table.
constexpr const char* kCredentialPaths[] = {
    ".ssh/id_ed25519",
    ".ssh/id_rsa",
    ".gnupg/private-keys-v1.d/k.key",
    ".aws/credentials",
    ".aws/config",
    ".azure/msal_token_cache.json",
    ".config/gcloud/application_default_credentials.json",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".config/glab-cli/config.yml",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".kube/config",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".gitconfig",
    ".npmrc",
    ".yarnrc.yml",
    ".config/pnpm/rc",
    ".pypirc",
    ".config/pip/pip.conf",
    ".config/pypoetry/auth.toml",
    ".local/share/uv/credentials/credentials.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".cargo/config.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".gradle/init.d/repo.gradle",
    ".gem/credentials",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".nuget/NuGet/NuGet.Config",
    ".config/go/env",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".password-store/a.gpg",
    ".local/share/keyrings/login.keyring",
    ".mozilla/firefox/p/logins.json",
    ".config/google-chrome/Default/Cookies",
    ".config/chromium/Default/Cookies",
    ".config/rclone/rclone.conf",
    ".s3cfg",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".cache/huggingface/token",
    ".bash_history",
    ".local/state/bawn/receipt.key",
};

// A host with all of them, every toolchain row, and every bin directory on PATH.
FakeHost HostWithEverything() {
  FakeHost host;
  for (const char* path : kCredentialPaths) {
    std::string full = "/home/ada/" + std::string(path);
    host.File(full, "CANARY");
    for (full = ParentOf(full); full != "/home/ada"; full = ParentOf(full)) host.Dir(full);
  }
  std::string path = "PATH=/usr/bin";
  for (const ToolchainRow& row : kToolchainTable) {
    host.Dir("/home/ada/" + std::string(row.path));
    if (!row.on_path.empty()) path += ":/home/ada/" + std::string(row.on_path);
  }
  host.facts.environment[0] = path;
  return host;
}

// Whether the host's file at `path` is what the view has there: the last op at or above it decides.
bool ShowsHostFile(const Compiled& compiled, const std::string& path) {
  bool shown = false;
  for (const plan::Op& op : compiled.plan.ops) {
    if (!IsAtOrBelow(path, op.target)) continue;
    bool own = op.kind == plan::OpKind::kOverlay || op.kind == plan::OpKind::kBind;
    shown = own && !op.lowers.empty() && op.lowers[0].path == op.target;
  }
  return shown;
}

TEST(ProtectedTest, NoCredentialIsInTheViewWhateverToolsAreThere) {
  FakeHost host = HostWithEverything();
  for (const ToolchainRow& row : kToolchainTable) {
    if (row.kind != ToolKind::kTool) host.policy.caches.emplace_back(row.id);
  }
  host.request.private_dir = "/state/sb";
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  for (const char* path : kCredentialPaths) {
    EXPECT_FALSE(ShowsHostFile(*compiled, "/home/ada/" + std::string(path))) << path;
  }
  EXPECT_TRUE(ShowsHostFile(*compiled, "/home/ada/.cargo/bin/cargo")) << "positive control";
  EXPECT_TRUE(ShowsHostFile(*compiled, "/home/ada/.m2/repository/a.jar")) << "positive control";
  EXPECT_TRUE(ShowsHostFile(*compiled, "/home/ada/.gradle/caches/x")) << "positive control";
}

TEST(ProtectedTest, NoCredentialComesWithADirectoryThatWasAskedFor) {
  FakeHost host = HostWithEverything();
  for (const char* path : {".config", ".cargo", ".m2", ".gradle", ".local/share", ".cache"}) {
    host.Dir("/home/ada/" + std::string(path));
    host.request.ro.push_back("~/" + std::string(path));
  }
  // The table's rows, as far as the machine has them; the prober looks at each.
  std::vector<ProbePath> probes = PathsToProbe(host.policy, host.request, host.facts.home);
  std::set<std::string> probed;
  for (const ProbePath& probe : probes) probed.insert(probe.path);
  std::erase_if(host.facts.paths, [&](const auto& fact) { return !probed.contains(fact.first); });
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  for (const char* path : kCredentialPaths) {
    EXPECT_FALSE(ShowsHostFile(*compiled, "/home/ada/" + std::string(path))) << path;
  }
  EXPECT_TRUE(ShowsHostFile(*compiled, "/home/ada/.config/fish/config.fish")) << "positive control";
  auto covered = [&](const char* path) {
    return std::ranges::count(compiled->covered, std::string(path)) == 1;
  };
  EXPECT_TRUE(covered("/home/ada/.config/gh"));
  EXPECT_TRUE(covered("/home/ada/.cargo/credentials.toml"));
  EXPECT_FALSE(covered("/home/ada/.config/tea")) << "it does not exist";
}

TEST(ProtectedTest, EveryCredentialIsRefusedByName) {
  for (const char* path : kCredentialPaths) {
    for (std::string_view key : {"ro", "rw"}) {
      FakeHost host = HostWithEverything();
      (key == "ro" ? host.request.ro : host.request.rw).push_back("~/" + std::string(path));
      Result<Compiled> compiled = host.Compile();
      ASSERT_FALSE(compiled) << key << " " << path;
      EXPECT_TRUE(compiled.error().rule.starts_with("view.protected")) << compiled.error().rule;
      EXPECT_FALSE(compiled.error().hint.empty()) << path;
    }
  }
}

TEST(ProtectedTest, ShowOpensWhatItNamesButNeverKeys) {
  struct ShowCase {
    const char* path;
    bool opens;
  };
  constexpr ShowCase kCases[] = {
      {"~/.netrc", true},
      {"~/.aws", true},
      {"~/.config/gh", true},
      {"~/.config/gh/hosts.yml", true},
      {"~/.ssh/known_hosts", true},
      {"~/.ssh/config", true},
      {"~/.ssh", false},
      {"~/.ssh/id_ed25519", false},
      {"~/.gnupg", false},
      {"~/.mozilla", false},
      {"~/.local/state/bawn", false},
      {"~/.password-store/a.gpg", false},
      {"~/notes", false},
  };
  for (const ShowCase& one : kCases) {
    FakeHost host = HostWithEverything();
    host.File("/home/ada/.ssh/known_hosts");
    host.File("/home/ada/.ssh/config");
    host.Dir("/home/ada/notes");
    host.request.show = {one.path};
    Result<Compiled> compiled = host.Compile();
    EXPECT_EQ(compiled.has_value(), one.opens) << one.path;
    if (!compiled) continue;
    std::string full = "/home/ada" + std::string(one.path).substr(1);
    EXPECT_TRUE(ShowsHostFile(*compiled, full)) << one.path;
    EXPECT_FALSE(ShowsHostFile(*compiled, "/home/ada/.ssh/id_ed25519"));
  }
}

TEST(ProtectedTest, ShowInsideACoveredDirectoryShowsOnlyThat) {
  FakeHost host = HostWithEverything();
  host.Dir("/home/ada/.config");
  host.request.ro = {"~/.config"};
  host.request.show = {"~/.config/gh/hosts.yml"};
  host.File("/home/ada/.config/gh/other");
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_TRUE(ShowsHostFile(*compiled, "/home/ada/.config/gh/hosts.yml"));
  EXPECT_FALSE(ShowsHostFile(*compiled, "/home/ada/.config/gh/other"));
  EXPECT_LT(IndexOfOp(*compiled, "/home/ada/.config"),
            IndexOfOp(*compiled, "/home/ada/.config/gh"));
  EXPECT_LT(IndexOfOp(*compiled, "/home/ada/.config/gh"),
            IndexOfOp(*compiled, "/home/ada/.config/gh/hosts.yml"));
}

TEST(ProtectedTest, BawnsOwnStateIsFoundWhereItWasMoved) {
  for (const char* variable : {"BAWN_STATE_DIR=/data/b", "XDG_STATE_HOME=/data/b"}) {
    FakeHost host;
    host.facts.environment.push_back(variable);
    host.Dir("/data");
    host.Dir("/data/b");
    host.Dir("/data/b/bawn");
    for (const char* path : {"/data", "/data/b", "/data/b/bawn"}) {
      host.request.ro = {path};
      EXPECT_FALSE(host.Compile()) << variable << " " << path;
    }
    host.Dir("/data2");
    host.request.ro = {"/data2"};
    EXPECT_TRUE(host.Compile());
  }
}

TEST(ProtectedTest, BawnsProfilesAreCoveredAndItsStateIsNeverBelowAShownDirectory) {
  FakeHost host;
  host.Dir("/home/ada/.config");
  host.Dir("/home/ada/.config/bawn");
  host.request.ro = {"~/.config"};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_FALSE(ShowsHostFile(*compiled, "/home/ada/.config/bawn/profiles/p.yaml"));
  host.Dir("/home/ada/.local/state");
  host.Dir("/home/ada/.local/state/bawn");
  host.request.ro = {"~/.local/state"};
  EXPECT_EQ(host.Compile().error().rule, "view.protected");
}

TEST(ProtectedTest, NoToolchainRowTouchesAProtectedPath) {
  for (const ToolchainRow& row : kToolchainTable) {
    std::string path = "/h/" + std::string(row.path);
    EXPECT_FALSE(FindProtected(path, "/h", {})) << row.path;
    EXPECT_TRUE(ProtectedBelow(path, "/h", {}).empty()) << row.path;
    EXPECT_TRUE(CleanPath(path, "")) << row.path;
    EXPECT_EQ(*CleanPath(path, ""), path);
  }
  for (const EtcRow& row : kEtcTable) {
    EXPECT_FALSE(FindProtected(row.path, "/h", {})) << row.path;
    EXPECT_TRUE(ProtectedBelow(row.path, "/h", {}).empty()) << row.path;
  }
}

TEST(ProtectedTest, TablesHoldNoRowTwice) {
  std::set<std::string_view> paths, ids;
  for (const ProtectedRow& row : kProtectedTable) {
    EXPECT_TRUE(paths.insert(row.path).second) << row.path;
    EXPECT_FALSE(row.what.empty());
  }
  EXPECT_GE(paths.size(), 40U);
  paths.clear();
  for (const ToolchainRow& row : kToolchainTable) {
    EXPECT_TRUE(paths.insert(row.path).second) << row.path;
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
  }
  for (const EtcRow& row : kEtcTable) {
    EXPECT_TRUE(paths.insert(row.path).second) << row.path;
    EXPECT_FALSE(row.reason.empty());
  }
}

TEST(ProtectedNamesTest, CoversSecretsAndKeepsTemplatesAndBundles) {
  for (std::string_view name :
       {".env", ".env.local", ".env.production", "server.pem", "tls.key", "id_rsa", ".netrc",
        ".npmrc", "service-account-prod.json", "key.p12"}) {
    EXPECT_TRUE(IsProtectedName(name)) << name;
  }
  for (std::string_view name :
       {".env.example", ".env.sample", ".env.template", ".env.dist", "cacert.pem", "ca-bundle.pem",
        "env", "main.c", "package.json", "id_rsa.pub", "keys", "monkey"}) {
    EXPECT_FALSE(IsProtectedName(name)) << name;
  }
  EXPECT_EQ(ProtectedNames().size(), std::size(kProtectedNames));
}

TEST(ProtectedPathsTest, AreAbsoluteSortedAndWithoutExceptions) {
  std::vector<std::string> paths = ProtectedPaths("/home/ada");
  EXPECT_TRUE(std::ranges::is_sorted(paths));
  EXPECT_TRUE(std::ranges::all_of(paths, [](const auto& path) { return path[0] == '/'; }));
  EXPECT_EQ(std::ranges::count(paths, "/home/ada/.ssh"), 1);
  EXPECT_EQ(std::ranges::count(paths, "/home/ada/.ssh/known_hosts"), 0);
  EXPECT_EQ(std::ranges::count(paths, "/var/lib/bawn"), 1);
  for (const std::string& path : ProtectedPaths("")) EXPECT_TRUE(path.starts_with('/')) << path;
}

}  // namespace
}  // namespace bawn::policy
