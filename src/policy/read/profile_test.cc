#include "policy/read/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace bawn::policy::read {
namespace {

constexpr const char* kFull = R"(# everything a profile can say
extends: default
level: isolated
view:
  ro: [~/data, /srv/models]
  rw:
    - /srv/out
  hide: [/opt]
  show: [~/.netrc]
  caches: [pip, maven]
env:
  set: {MODE: fast, COUNT: 3, EMPTY: }
  pass: [FOO]
secrets: [NPM_TOKEN]
limits:
  cpu: 1.5
  memory: 2GiB
  pids: 512
  disk: 10G
  inodes: 100000
  time: 10m
  idle: 90s
  output: 64M
  best_effort: [memory, cpu]
network: off
syscalls: {allow: [debug]}
gates: []
)";

TEST(ProfileTest, ReadsEveryKeyWithItsPlace) {
  auto policy = ReadProfile(kFull, "full", "/etc/bawn/profiles/full.yaml");
  ASSERT_TRUE(policy) << FormatDiagnostics(policy.error(), "full.yaml");
  EXPECT_EQ(policy->name, "full");
  EXPECT_EQ(policy->extends, "default");
  EXPECT_EQ(policy->level_floor, plan::Level::kIsolated);
  ASSERT_EQ(policy->ro.size(), 2U);
  EXPECT_EQ(policy->ro[0].path, "~/data");
  EXPECT_EQ(policy->ro[0].origin.line, 5U);
  EXPECT_EQ(policy->rw[0].origin.line, 7U);
  EXPECT_EQ(policy->rw[0].origin.file, "/etc/bawn/profiles/full.yaml");
  EXPECT_EQ(policy->hide[0].path, "/opt");
  EXPECT_EQ(policy->show[0].path, "~/.netrc");
  EXPECT_EQ(policy->caches, (std::vector<std::string>{"pip", "maven"}));
  ASSERT_EQ(policy->env.size(), 4U);
  EXPECT_EQ(policy->env[1].value, "3");
  EXPECT_EQ(policy->env[2].value, "");
  EXPECT_FALSE(policy->env[3].value);
  EXPECT_EQ(policy->secrets, std::vector<std::string>{"NPM_TOKEN"});
  EXPECT_EQ(policy->limits.cpus_milli, 1500U);
  EXPECT_EQ(policy->limits.memory_bytes, uint64_t{2} << 30);
  EXPECT_EQ(policy->limits.pids, 512U);
  EXPECT_EQ(policy->limits.disk_bytes, uint64_t{10} << 30);
  EXPECT_EQ(policy->limits.inodes, 100'000U);
  EXPECT_EQ(policy->limits.time_ms, 600'000U);
  EXPECT_EQ(policy->limits.idle_ms, 90'000U);
  EXPECT_EQ(policy->limits.output_bytes, uint64_t{64} << 20);
  EXPECT_EQ(policy->limits.best_effort, (std::vector<std::string>{"memory", "cpu"}));
  EXPECT_EQ(policy->syscall_profiles, std::vector<std::string>{"debug"});
  EXPECT_EQ(policy->digest.size(), 64U);
}

TEST(ProfileTest, AnEmptyProfileSaysNothing) {
  for (const char* text : {"", "# nothing\n", "view:\nenv:\nlimits:\n", "network: {allow: []}\n"}) {
    auto policy = ReadProfile(text, "p", "p.yaml");
    ASSERT_TRUE(policy) << text;
    EXPECT_EQ(policy->digest, ReadProfile("", "q", "q.yaml")->digest) << text;
  }
}

struct FaultCase {
  const char* text;
  uint32_t line;
  const char* says;
};
const FaultCase kFaults[] = {
    {"veiw: {}\n", 1, "a profile has no key 'veiw'; did you mean 'view'?"},
    {"view: {r0: []}\n", 1, "'view' has no key 'r0'; did you mean 'ro'?"},
    {"zzzzzz: 1\n", 1, "there are: extends, level"},
    {"level: isolate\n", 1, "did you mean 'isolated'?"},
    {"level: [isolated]\n", 1, "'level' is no level"},
    {"extends: ../x\n", 1, "'extends' is the name of one profile"},
    {"level: isolated\nextends:", 2, "'extends' is the name of one profile"},
    {"extends: [a]\n", 1, "'extends' is the name of one profile"},
    {"view: []\n", 1, "'view' is a map of keys"},
    {"view: text\n", 1, "'view' is a map of keys"},
    {"view: {ro: /a}\n", 1, "'view.ro' is a list"},
    {"view: {ro: [[/a]]}\n", 1, "list of plain values"},
    {"view:\n  ro:\n    - relative\n", 3, "is not an absolute path"},
    {"view: {rw: [/a/../b]}\n", 1, "contains '..'"},
    {"view: {ro: ['']}\n", 1, "list of plain values"},
    {"view: {caches: [pi]}\n", 1, "did you mean 'pip'?"},
    {"view: {caches: [rustup]}\n", 1, "'view.caches' knows no 'rustup'"},
    {"env: {set: [A]}\n", 1, "'env.set' is a map"},
    {"env: {set: {A: [1]}}\n", 1, "'A' has one value"},
    {"env: {set: {LD_PRELOAD: /x}}\n", 1, "'LD_PRELOAD': it makes a loader"},
    {"env:\n  pass: [AWS_REGION]\n", 2, "name is that of a credential; use 'secrets'"},
    {"env: {pass: [A=B]}\n", 1, "is no name of a variable"},
    {"secrets: [a/b]\n", 1, "is no name of a secret"},
    {"limits: {memory: 2GB}\n", 1, "'2GB' is no size"},
    {"limits: {time: 90}\n", 1, "'90' is no time"},
    {"limits: {pids: many}\n", 1, "'many' is no whole number"},
    {"limits: {pids: 0}\n", 1, "0 leaves nothing to run with"},
    {"limits: {cpu: [1]}\n", 1, "'limits.cpu' is one value"},
    {"limits: {best_effort: [memroy]}\n", 1, "did you mean 'memory'?"},
    {"limits: {mem: 1G}\n", 1, "'limits' has no key 'mem'"},
    {"network: on\n", 1, "'network' is a map of keys"},
    {"network:\n  allow: [github.com]\n", 2, "this version has no network rules"},
    {"network: {table: http://x}\n", 1, "this version has no network rules"},
    {"syscalls: {allow: [browsers]}\n", 1, "did you mean 'browser'?"},
    {"gates: [x]\n", 1, "this version has no gates in profiles"},
    {"- a\n", 1, "a profile is a map of keys"},
    {"just text\n", 1, "a profile is a map of keys"},
};

TEST(ProfileTest, NamesEveryFaultWithItsLineAndARemedy) {
  for (const FaultCase& fault : kFaults) {
    auto policy = ReadProfile(fault.text, "p", "p.yaml");
    ASSERT_FALSE(policy) << fault.text;
    ASSERT_EQ(policy.error().size(), 1U) << FormatDiagnostics(policy.error(), fault.text);
    EXPECT_EQ(policy.error()[0].line, fault.line) << fault.text;
    EXPECT_NE(policy.error()[0].message.find(fault.says), std::string::npos)
        << fault.text << ": " << policy.error()[0].message;
  }
}

TEST(ProfileTest, SaysAllFaultsInOrder) {
  auto policy = ReadProfile("limits: {time: 1}\nlevel: x\nview:\n  ro: [a, b]\n", "p", "p.yaml");
  ASSERT_FALSE(policy);
  ASSERT_EQ(policy.error().size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(policy.error(), {}, &Diagnostic::line));
  std::string text = FormatDiagnostics(policy.error(), "p.yaml");
  EXPECT_TRUE(text.starts_with("p.yaml:1: limits.time: ")) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
}

TEST(ProfileTest, EqualMeaningGivesEqualDigests) {
  auto a = ReadProfile("limits: {time: 60s}\nlevel: isolated\n", "a", "a.yaml");
  auto b = ReadProfile("# comment\nlevel: \"isolated\"\nlimits:\n  time: 1m\n", "b", "b.yaml");
  auto c = ReadProfile("level: isolated\nlimits: {time: 61s}\n", "c", "c.yaml");
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->digest, b->digest);
  EXPECT_NE(a->digest, c->digest);
}

}  // namespace
}  // namespace bawn::policy::read
