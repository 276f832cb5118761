#include "contain/cgroup.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/ids.h"
#include "sys/cgroups.h"
#include "sys/files.h"

namespace bawn::contain {
namespace {

using ::testing::HasSubstr;

constexpr char kHybridMounts[] =
    "30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
    "32 30 0:28 / /sys/fs/cgroup/memory rw,nosuid shared:5 - cgroup cgroup rw,memory\n"
    "33 30 0:29 / /sys/fs/cgroup/pids rw,nosuid - cgroup cgroup rw,pids\n"
    "34 30 0:30 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n";
constexpr char kHybridGroups[] =
    "4:memory:/team\n3:pids:/\n2:cpu,cpuacct:/jobs/a\n1:name=systemd:/x\n0::/init.scope\n";

TEST(PlacesFromTest, HybridTakesControllersFromV1AndTheRestFromV2) {
  auto places = PlacesFrom(kHybridGroups, kHybridMounts, true).value();
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[0], (CgroupPlace{.directory = "/sys/fs/cgroup/memory/team", .memory = true}));
  EXPECT_EQ(places[1], (CgroupPlace{.directory = "/sys/fs/cgroup/pids", .pids = true}));
  EXPECT_EQ(places[2],
            (CgroupPlace{.directory = "/sys/fs/cgroup/cpu,cpuacct/jobs/a", .cpu = true}));
  EXPECT_EQ(places[3], (CgroupPlace{.directory = "/sys/fs/cgroup/unified/init.scope", .v2 = true}));
  EXPECT_EQ(PlacesFrom(kHybridGroups, kHybridMounts, false)->size(), 3u) << "no CPU limit";
}

TEST(PlacesFromTest, PureV2IsOnePlaceForAll) {
  auto places = PlacesFrom("0::/user.slice/run-1.scope\n",
                           "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", true);
  EXPECT_THAT(*places, ::testing::ElementsAre(
                           CgroupPlace{.directory = "/sys/fs/cgroup/user.slice/run-1.scope",
                                       .v2 = true,
                                       .memory = true,
                                       .pids = true,
                                       .cpu = true}));
}

TEST(PlacesFromTest, AMountOfAPartShowsOnlyWhatIsBelow) {
  constexpr char kPart[] = "29 23 0:26 /a /cg rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(PlacesFrom("0::/a/b\n", kPart, true)->at(0).directory, "/cg/b");
  EXPECT_FALSE(PlacesFrom("0::/other\n", kPart, true));
}

TEST(PlacesFromTest, AMissingControllerIsNamed) {
  Result<std::vector<CgroupPlace>> none = PlacesFrom("1:name=systemd:/x\n", "", true);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("memory"));
  EXPECT_THAT(PlacesFrom("2:memory:/\n", kHybridMounts, true).error().message, HasSubstr("pids"));
}

// The rest needs groups of its own: root here, or whoever got one delegated.
class CgroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    places_ = FindCgroupPlaces(true).value();
    Result<Cgroup> made = Cgroup::Make(places_, name_);
    if (made) {
      group_.emplace(std::move(*made));
      return;
    }
    ASSERT_NE(geteuid(), 0u) << made.error().message;
    EXPECT_EQ(made.error().sys_errno, EACCES) << "an ordinary user has no group here";
  }
  void TearDown() override {
    if (group_) EXPECT_TRUE(group_->End(5000));
  }
  // A child in the groups that does `act` and ends; its wait status.
  template <class Act>
  int InGroup(const Act& act) {
    sys::Child child = sys::Clone3Into(0, group_->unified()).value();
    if (child.pid == 0) {
      if (!Cgroup::Enter(group_->entrances())) _exit(100);
      _exit(act());
    }
    int status = 0;
    waitpid(child.pid, &status, 0);
    return status;
  }
  bool AnyLeft() const {
    for (const CgroupPlace& place : places_) {
      if (sys::Fstatat(AT_FDCWD, place.directory + "/" + name_)) return true;
    }
    return false;
  }
  // The kernel notifies from a worker of its own: soon, not at once.
  bool WatchIsReady(int within_ms) const {
    std::vector<pollfd> items = group_->watches();
    return poll(items.data(), items.size(), within_ms) > 0;
  }

  std::string name_ = NewId("bawn-test-");
  std::vector<CgroupPlace> places_;
  std::optional<Cgroup> group_;
};

TEST_F(CgroupTest, AChildIsInEveryGroupAndTheGroupsEndWithTheObject) {
  if (!group_) return;
  ASSERT_TRUE(group_->SetLimits({uint64_t{64} << 20, 10, 500}, 1));
  EXPECT_THAT(group_->verified_by(), HasSubstr("pids.max 11"));
  EXPECT_THAT(group_->verified_by(), HasSubstr("67108864"));
  int status = InGroup([&] {
    std::string seen = sys::ReadFileAt(AT_FDCWD, "/proc/self/cgroup", 65536).value_or("");
    return group_->Holds(seen, false) && group_->Holds(seen, true) ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  std::string own = sys::ReadFileAt(AT_FDCWD, "/proc/self/cgroup", 65536).value();
  EXPECT_FALSE(group_->Holds(own, false) || group_->Holds(own, true));
  EXPECT_EQ(group_->Violated(), plan::KilledBy::kNothing);
  EXPECT_TRUE(AnyLeft());
  group_.reset();
  EXPECT_FALSE(AnyLeft());
}

TEST_F(CgroupTest, MemoryBeyondTheLimitIsKilledAndSeen) {
  if (!group_) return;
  ASSERT_TRUE(group_->SetLimits({uint64_t{16} << 20, 0, 0}, 0));
  EXPECT_FALSE(WatchIsReady(0));
  int status = InGroup([] {
    size_t size = size_t{64} << 20;
    auto* bytes = static_cast<volatile char*>(malloc(size));
    for (size_t at = 0; at < size; at += 4096) bytes[at] = 1;
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_TRUE(WatchIsReady(5000));
  EXPECT_EQ(group_->Violated(), plan::KilledBy::kMemory);
  EXPECT_FALSE(WatchIsReady(0)) << "read: armed again";
  TreeUsage usage = group_->Usage();
  EXPECT_GT(usage.memory_peak_bytes.value_or(0), uint64_t{8} << 20);
  EXPECT_LE(usage.memory_peak_bytes.value_or(0), uint64_t{16} << 20);
}

TEST_F(CgroupTest, AForkBeyondTheLimitIsRefusedAndSeen) {
  if (!group_) return;
  ASSERT_TRUE(group_->SetLimits({0, 2, 0}, 0));
  int status = InGroup([] {
    if (fork() == 0) _exit(pause());
    int refused = fork() < 0 ? errno : 0;
    return refused == EAGAIN ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(group_->Violated(), plan::KilledBy::kPids);
  EXPECT_GE(group_->Usage().pids_peak.value_or(0), 2u);
}

TEST_F(CgroupTest, EndKillsWhatIsLeftAndRemovesTheGroups) {
  if (!group_) return;
  EXPECT_EQ(InGroup([] {
              for (int i = 0; i < 20; ++i) {
                if (fork() == 0 && setsid() > 0) _exit(pause());
              }
              return 0;
            }),
            0);
  EXPECT_TRUE(group_->End(5000));
  EXPECT_FALSE(AnyLeft());
}

TEST_F(CgroupTest, AnotherProcessFindsThemByTheirRecordedDirectories) {
  if (!group_) return;
  std::vector<std::string> directories = {"/nowhere/" + name_, "/sys/fs/cgroup"};
  for (const CgroupPlace& place : places_) directories.push_back(place.directory + "/" + name_);
  ASSERT_TRUE(group_->SetLimits({0, 7, 0}, 0));
  group_->Release();
  group_.reset();
  ASSERT_TRUE(AnyLeft()) << "released: whoever has them ends them";
  Result<Cgroup> found = Cgroup::Find(directories, name_);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->verified_by(), HasSubstr("pids.max 7"));
  EXPECT_EQ(found->directories().size(), places_.size());
  EXPECT_TRUE(found->End(5000));
  EXPECT_FALSE(AnyLeft());
}

}  // namespace
}  // namespace bawn::contain
