#include "policy/binary.h"

#include <gtest/gtest.h>

#include "policy/builtin.h"
#include "policy/canonical.h"

namespace bawn::policy {
namespace {

Policy FullPolicy() {
  Policy policy;
  policy.name = "full";
  policy.extends = "default";
  policy.level_floor = plan::Level::kIsolated;
  policy.ro = {{"/a", {"f.yaml", 3}}, {"~/b\xff", {"f.yaml", 4}}};
  policy.rw = {{"/c", {"f.yaml", 5}}};
  policy.hide = {{"/d", {"f.yaml", 6}}};
  policy.show = {{"~/.netrc", {"f.yaml", 7}}};
  policy.env = {{"A", "1", {"f.yaml", 8}}, {"B", std::nullopt, {"f.yaml", 9}}, {"C", "", {}}};
  policy.secrets = {"TOKEN"};
  policy.limits.cpus_milli = 1500;
  policy.limits.memory_bytes = UINT64_MAX;
  policy.limits.output_bytes = 1;
  policy.limits.best_effort = {"memory", "cpu"};
  policy.caches = {"pip"};
  policy.syscall_profiles = {"browser"};
  policy.sources = {{"f.yaml", 0}};
  policy.digest = PolicyDigest(policy);
  return policy;
}

TEST(BinaryTest, GivesBackWhatWasWritten) {
  Policy policy = FullPolicy();
  std::string bytes = EncodePolicy(policy);
  Result<Policy> back = DecodePolicy(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(EncodePolicy(*back), bytes);
  EXPECT_EQ(back->ro[1].path, "~/b\xff");
  EXPECT_EQ(back->ro[1].origin.line, 4U);
  EXPECT_EQ(back->env[0].value, "1");
  EXPECT_FALSE(back->env[1].value);
  EXPECT_EQ(back->env[2].value, "");
  EXPECT_EQ(back->limits.memory_bytes, UINT64_MAX);
  EXPECT_FALSE(back->limits.pids);
  EXPECT_EQ(back->digest, policy.digest);
  for (std::string_view name : BuiltinPolicyNames()) {
    EXPECT_TRUE(DecodePolicy(EncodePolicy(*BuiltinPolicy(name)))) << name;
  }
}

TEST(BinaryTest, RefusesEveryTruncationAndTrailingBytes) {
  std::string bytes = EncodePolicy(FullPolicy());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodePolicy(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodePolicy(bytes + "x"));
}

TEST(BinaryTest, RefusesOtherVersionsAndHugeCounts) {
  std::string bytes = EncodePolicy(FullPolicy());
  std::string other = bytes;
  other[3] = '2';
  Result<Policy> refused = DecodePolicy(other);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().hint.find("bawn-policy"), std::string::npos);
  // Each 4-byte word made huge in turn: no count or length may be believed.
  for (size_t at = 4; at + 4 <= bytes.size(); ++at) {
    std::string huge = bytes;
    huge.replace(at, 4, "\xff\xff\xff\xff");
    (void)DecodePolicy(huge);  // may be valid (a number); must neither crash nor allocate wildly
  }
  std::string count = bytes.substr(0, 4) + std::string("\xff\xff\xff\x7f", 4);
  EXPECT_FALSE(DecodePolicy(count));
}

TEST(BinaryTest, HoldsItsSizeLimit) {
  Policy policy;
  size_t frame = EncodePolicy(policy).size();
  policy.name = std::string(kCompiledBytesMax - frame, 'n');
  EXPECT_TRUE(DecodePolicy(EncodePolicy(policy)));
  policy.name += 'n';
  EXPECT_FALSE(DecodePolicy(EncodePolicy(policy)));
}

TEST(CanonicalTest, IgnoresPlacesAndTellsMeaningsApart) {
  Policy a = FullPolicy(), b = FullPolicy();
  b.ro[0].origin = {"other.yaml", 99};
  b.sources.clear();
  b.name = "other";
  EXPECT_EQ(PolicyDigest(a), PolicyDigest(b));
  b.ro[0].path = "/A";
  EXPECT_NE(PolicyDigest(a), PolicyDigest(b));
  Policy set, pass, newline;
  set.env = {{"A", "x", {}}};
  pass.env = {{"A=x", std::nullopt, {}}};
  EXPECT_NE(PolicyDigest(set), PolicyDigest(pass));
  set = Policy();
  set.ro = {{"/a", {}}, {"/b", {}}};
  newline.ro = {{"/a\nro /b", {}}};
  EXPECT_NE(PolicyDigest(set), PolicyDigest(newline));
}

}  // namespace
}  // namespace bawn::policy
