#include "policy/extend.h"

#include <gtest/gtest.h>

#include "policy/builtin.h"
#include "policy/canonical.h"

namespace bawn::policy {
namespace {

TEST(ExtendTest, AddsListsAndLetsTheNearerSettingWin) {
  Policy base, over;
  base.name = "base";
  base.ro = {{"/a", {"base.yaml", 1}}};
  base.limits.pids = 100;
  base.limits.time_ms = 1000;
  base.syscall_profiles = {"debug"};
  base.level_floor = plan::Level::kBounded;
  over.name = "over";
  over.extends = "base";
  over.ro = {{"/b", {"over.yaml", 1}}};
  over.limits.pids = 200;
  over.syscall_profiles = {"debug", "browser"};
  over.level_floor = plan::Level::kIsolated;
  Policy result = Extend(base, over);
  EXPECT_EQ(result.name, "over");
  EXPECT_TRUE(result.extends.empty());
  ASSERT_EQ(result.ro.size(), 2U);
  EXPECT_EQ(result.ro[1].origin.file, "over.yaml");
  EXPECT_EQ(result.limits.pids, 200U);
  EXPECT_EQ(result.limits.time_ms, 1000U);
  EXPECT_EQ(result.syscall_profiles, (std::vector<std::string>{"debug", "browser"}));
  EXPECT_EQ(result.level_floor, plan::Level::kBounded) << "a floor is only ever raised";
  EXPECT_EQ(result.digest, PolicyDigest(result));
  EXPECT_NE(result.digest, PolicyDigest(over));
}

TEST(ExtendTest, FollowsTheChainAndRefusesCircles) {
  auto named = [](std::string name, std::string extends) {
    Policy policy;
    policy.name = std::move(name);
    policy.extends = std::move(extends);
    policy.secrets = {policy.name};
    return policy;
  };
  auto find = [&](std::string_view name) -> Result<Policy> {
    if (name == "a") return named("a", "b");
    if (name == "b") return named("b", "default");
    if (name == "x") return named("x", "y");
    if (name == "y") return named("y", "x");
    if (name.starts_with("deep")) {
      return named(std::string(name), "deep" + std::to_string(name.size()) + std::string(name));
    }
    std::optional<Policy> builtin = BuiltinPolicy(name);
    if (builtin) return *builtin;
    return Fail(ErrorCode::kNotFound, "no such profile");
  };
  Result<Policy> chain = ResolveExtends(named("top", "a"), find);
  ASSERT_TRUE(chain) << chain.error().message;
  EXPECT_EQ(chain->secrets, (std::vector<std::string>{"b", "a", "top"}));
  EXPECT_EQ(chain->name, "top");
  EXPECT_EQ(ResolveExtends(named("x", "y"), find).error().rule, "profile.extends");
  EXPECT_EQ(ResolveExtends(named("self", "self"), find).error().rule, "profile.extends");
  EXPECT_EQ(ResolveExtends(named("t", "deep"), find).error().rule, "profile.extends");
  Result<Policy> missing = ResolveExtends(named("t", "nobody"), find);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("'nobody'"), std::string::npos);
}

}  // namespace
}  // namespace bawn::policy
