#include "policy/limits.h"

#include <gtest/gtest.h>

#include "policy/fake_host_for_test.h"

namespace bawn::policy {
namespace {

using plan::Level;

TEST(LimitsTest, DefaultsAreOnlyWhatTheLevelHolds) {
  FakeHost host;
  Result<Compiled> isolated = host.Compile(Level::kIsolated);
  ASSERT_TRUE(isolated);
  EXPECT_EQ(isolated->limits.pids, kPidsDefault);
  EXPECT_EQ(isolated->plan.limits.processes, kPidsDefault);
  EXPECT_EQ(isolated->limits.output_bytes, kOutputBytesDefault);
  EXPECT_FALSE(isolated->limits.memory_bytes);
  Result<Compiled> restricted = host.Compile(Level::kRestricted);
  ASSERT_TRUE(restricted) << restricted.error().message;
  EXPECT_FALSE(restricted->limits.pids);
  EXPECT_EQ(restricted->plan.limits.processes, 0U);
  EXPECT_EQ(restricted->limits.output_bytes, kOutputBytesDefault);
}

struct HoldCase {
  std::string_view name;
  std::optional<uint64_t> Limits::* field;
  Level lowest;
};
constexpr HoldCase kHoldCases[] = {
    {"cpu", &Limits::cpus_milli, Level::kBounded},
    {"memory", &Limits::memory_bytes, Level::kBounded},
    {"pids", &Limits::pids, Level::kIsolated},
    {"disk", &Limits::disk_bytes, Level::kRestricted},
    {"inodes", &Limits::inodes, Level::kRestricted},
    {"time", &Limits::time_ms, Level::kNone},
    {"idle", &Limits::idle_ms, Level::kNone},
    {"output", &Limits::output_bytes, Level::kNone},
};

TEST(LimitsTest, RefusesWhatTheLevelCannotHoldUnlessBestEffort) {
  for (const HoldCase& one : kHoldCases) {
    for (Level level : {Level::kNone, Level::kRestricted, Level::kIsolated, Level::kBounded}) {
      Limits limits;
      limits.*one.field = 4096;
      Result<> checked = CheckLimits(limits, level);
      EXPECT_EQ(checked.has_value(), level >= one.lowest) << one.name << " at " << LevelName(level);
      if (!checked) {
        EXPECT_EQ(checked.error().code, ErrorCode::kUnavailable);
        EXPECT_NE(checked.error().hint.find("--best-effort"), std::string::npos);
        EXPECT_EQ(checked.error().rule, "limits." + std::string(one.name));
      }
      limits.best_effort = {std::string(one.name)};
      EXPECT_TRUE(CheckLimits(limits, level)) << one.name << " at " << LevelName(level);
    }
  }
}

TEST(LimitsTest, RefusesZeroAndUnknownNames) {
  for (const HoldCase& one : kHoldCases) {
    Limits limits;
    limits.*one.field = 0;
    EXPECT_FALSE(CheckLimits(limits, Level::kBounded)) << one.name;
    limits.*one.field = 1;
    EXPECT_TRUE(CheckLimits(limits, Level::kBounded)) << one.name;
  }
  Limits limits;
  limits.best_effort = {"memmory"};
  Result<> checked = CheckLimits(limits, Level::kBounded);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().hint, "did you mean 'memory'?");
}

TEST(LimitsTest, TheCommandLineWinsAndBestEffortAddsUp) {
  FakeHost host;
  host.policy.limits.memory_bytes = 1 << 30;
  host.policy.limits.time_ms = 1000;
  host.policy.limits.best_effort = {"memory"};
  host.request.limits.time_ms = 2000;
  host.request.limits.cpus_milli = 1500;
  host.request.limits.best_effort = {"cpu", "memory"};
  Result<Compiled> compiled = host.Compile();
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->limits.time_ms, 2000U);
  EXPECT_EQ(compiled->limits.best_effort, (std::vector<std::string>{"memory", "cpu"}));
  EXPECT_EQ(compiled->plan.limits.address_space_bytes, uint64_t{1} << 30);
  Result<Compiled> bounded = host.Compile(Level::kBounded);
  ASSERT_TRUE(bounded);
  EXPECT_EQ(bounded->plan.limits.address_space_bytes, 0U) << "the cgroup holds it";
}

TEST(LimitsTest, SyscallProfilesWidenOnlyWhatTheyName) {
  FakeHost host;
  Result<Compiled> plain = host.Compile();
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->plan.limits.user_namespaces_max, 0U);
  EXPECT_TRUE(plain->plan.syscall_profiles.empty());
  host.policy.syscall_profiles = {"debug", "browser", "debug"};
  Result<Compiled> wide = host.Compile();
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->plan.limits.user_namespaces_max, 16U);
  EXPECT_EQ(wide->plan.syscall_profiles, (std::vector<std::string>{"browser", "debug"}));
  host.policy.syscall_profiles = {"everything"};
  EXPECT_FALSE(host.Compile());
}

TEST(LimitsTest, TheWholeTreeIsHeldByItsGroupAtBounded) {
  FakeHost host;
  host.request.limits.memory_bytes = uint64_t{1} << 30;
  host.request.limits.cpus_milli = 1500;
  Result<Compiled> bounded = host.Compile(Level::kBounded);
  ASSERT_TRUE(bounded) << bounded.error().message;
  EXPECT_EQ(bounded->plan.tree.memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(bounded->plan.tree.cpus_milli, 1500U);
  EXPECT_EQ(bounded->plan.tree.pids, kPidsDefault);
  EXPECT_EQ(bounded->plan.limits.processes, 0U) << "it would refuse before the group, unseen";
  EXPECT_EQ(bounded->plan.limits.address_space_bytes, 0U);
  FakeHost plain;
  EXPECT_EQ(plain.Compile()->plan.tree.pids, 0U);
  EXPECT_EQ(plain.Compile()->plan.limits.processes, kPidsDefault);
}

TEST(LevelTest, NeverSlides) {
  FakeHost host;
  host.request.level = Level::kBounded;
  EXPECT_EQ(host.Compile(Level::kIsolated).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(host.Compile(Level::kBounded));
  host.request.level.reset();
  host.policy.level_floor = Level::kIsolated;
  EXPECT_EQ(host.Compile(Level::kRestricted).error().rule, "level.floor");
  EXPECT_TRUE(host.Compile(Level::kIsolated));
  EXPECT_TRUE(host.Compile(Level::kBounded)) << "a floor only refuses";
  EXPECT_EQ(host.Compile(Level::kGuest).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace bawn::policy
