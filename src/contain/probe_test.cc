#include "contain/probe.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "contain/probe_child.h"
#include "contain/seccomp.h"
#include "contain/test_child.h"
#include "sys/files.h"
#include "sys/raw.h"

namespace bawn::contain {
namespace {

using plan::Level;
using ::testing::HasSubstr;

std::map<std::string, ProbeFact> ByName(const ProbeReport& report) {
  std::map<std::string, ProbeFact> facts;
  for (const ProbeFact& fact : report.facts) facts[fact.name] = fact;
  return facts;
}

// With a subordinate range of its own where the test runs as root.
class ProbeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    UniqueFd dir = sys::OpenDir(AT_FDCWD, dir_.path()).value();
    for (const char* name : {"subuid", "subgid"}) {
      ASSERT_TRUE(sys::WriteFileAtomic(dir.get(), name, "bawn:1879048192:1048576\n", 0644, false));
    }
    options_.subids = {dir_ / "subuid", dir_ / "subgid", dir_ / "passwd", dir_ / "group"};
    options_.state_dir = dir_ / "a";
    ASSERT_TRUE(sys::Mkdirat(AT_FDCWD, options_.state_dir, 0700));
  }
  void TearDown() override {
    for (const char* name : {"subuid", "subgid"}) (void)sys::Unlinkat(AT_FDCWD, dir_ / name);
  }
  TempDir dir_;
  ProbeOptions options_;
};

TEST_F(ProbeTest, ThisMachineProvesIsolatedFactByFact) {
  ProbeReport report = ProbeMachine(options_).value();
  auto facts = ByName(report);
  for (const char* name :
       {"userns", "apparmor", "namespaces", "second_userns", "namespace_lid", "proc", "network",
        "overlay_userxattr", "overlay_volatile", "overlay_state", "landlock", "seccomp", "pidfd",
        "sealed_memfd", "detached_exec"}) {
    EXPECT_EQ(facts[name].state, "ok") << name << ": " << facts[name].detail;
    EXPECT_EQ(facts[name].remedy, "") << name;
  }
  EXPECT_THAT(facts["landlock"].detail, HasSubstr("write EACCES, signal out EPERM"));
  EXPECT_EQ(facts["second_userns"].detail, "umount EINVAL, remount writable EPERM");
  bool cgroup = facts["cgroup"].state == "ok";
  EXPECT_EQ(report.highest, cgroup ? Level::kBounded : Level::kIsolated);
  if (!cgroup) EXPECT_THAT(facts["cgroup"].remedy, HasSubstr("Delegate=yes"));
}

TEST_F(ProbeTest, LeavesNothingBehind) {
  ASSERT_TRUE(ProbeMachine(options_));
  UniqueFd state = sys::OpenDir(AT_FDCWD, options_.state_dir).value();
  EXPECT_TRUE(sys::ListDir(state.get())->empty());
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1) << "no child is left";
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(ProbeTest, RootModeNeedsItsSubuidEntryAndSaysTheLine) {
  if (geteuid() != 0) {
    auto facts = ByName(ProbeMachine(options_).value());
    EXPECT_FALSE(facts.contains("subuid")) << "only root mode asks";
    return;
  }
  EXPECT_EQ(ByName(ProbeMachine(options_).value())["idmapped_mounts"].state, "ok");
  ASSERT_TRUE(sys::Unlinkat(AT_FDCWD, options_.subids.subuid));
  ProbeReport report = ProbeMachine(options_).value();
  ProbeFact subuid = ByName(report)["subuid"];
  EXPECT_EQ(subuid.state, "missing");
  EXPECT_THAT(subuid.remedy, HasSubstr("add the line bawn:"));
  EXPECT_EQ(report.highest, Level::kNone);
}

// A machine that refuses namespaces, as a container's filter does: the probes run behind ours.
TEST_F(ProbeTest, RefusedNamespacesAreMissingAndLowerTheLevel) {
  EXPECT_EQ(ExitOf([&] {
              if (sys::raw::SetNoNewPrivs() != 0) return 200;
              if (LoadSeccomp(SeccompProgram({}).value()) != 0) return 201;
              ProbeReport report = ProbeMachine(options_).value();
              auto facts = ByName(report);
              if (facts["userns"].state != "missing") return 1;
              if (facts["userns"].detail != "clone3: ENOSYS") return 2;
              if (facts["userns"].remedy.empty()) return 3;
              if (facts["proc"].state != "missing") return 4;
              return 0;
            }),
            0);
}

TEST_F(ProbeTest, AMissingStateDirectoryIsNotOk) {
  options_.state_dir = dir_ / "absent";
  ProbeFact fact = ByName(ProbeMachine(options_).value())["overlay_state"];
  EXPECT_EQ(fact.state, "missing");
  EXPECT_THAT(fact.detail, HasSubstr("ENOENT"));
}

TEST(ProbeChildTest, AChildThatDiesIsUnknown) {
  ProbeFact fact = FactOf("x", TryInChild(0, []() -> Result<std::string> { _exit(0); }), "do this");
  EXPECT_EQ(fact.state, "unknown");
  EXPECT_EQ(fact.remedy, "do this");
}

TEST(ProbeChildTest, AnUnexpectedErrnoIsUnknownAndARefusalMissing) {
  auto state_of = [](int error) {
    return FactOf("x",
                  TryInChild(0, [=]() -> Result<std::string> { return FailErrno(error, "y"); }), "")
        .state;
  };
  EXPECT_EQ(state_of(EPERM), "missing");
  EXPECT_EQ(state_of(ENOSYS), "missing");
  EXPECT_EQ(state_of(EIO), "unknown");
  EXPECT_EQ(state_of(ENOMEM), "unknown");
}

TEST(NamespaceRemedyTest, NamesTheCauseAndNeverSwitchesAProtectionOff) {
  NamespaceHints apparmor, container, chroot, closed;
  apparmor.apparmor = "1";
  container.container = true;
  chroot.chroot = true;
  closed.closed_by = "/proc/sys/user/max_user_namespaces";
  EXPECT_THAT(NamespaceRemedy(apparmor), HasSubstr("apparmor_parser -r /etc/apparmor.d/bawn"));
  EXPECT_THAT(NamespaceRemedy(container), HasSubstr("a container"));
  EXPECT_THAT(NamespaceRemedy(chroot), HasSubstr("a chroot"));
  EXPECT_THAT(NamespaceRemedy(closed), HasSubstr("max_user_namespaces is 0"));
  EXPECT_THAT(NamespaceRemedy({}), HasSubstr("6.12"));
  for (const NamespaceHints& hints : {apparmor, container, chroot, closed, NamespaceHints{}}) {
    std::string remedy = NamespaceRemedy(hints);
    for (const char* word :
         {"disable", "unconfined", "privileged", "sysctl -w", "=0", "setenforce"}) {
      EXPECT_THAT(remedy, ::testing::Not(HasSubstr(word)));
    }
  }
}

TEST(AppArmorFactTest, TheRestrictionIsAFailureOnlyWhereItStopsUs) {
  ProbeFact works = {"userns", "ok", "", ""}, refused = {"userns", "missing", "", ""};
  NamespaceHints on, off;
  on.apparmor = "1";
  off.apparmor = "0";
  EXPECT_EQ(AppArmorFact(on, refused).state, "missing");
  EXPECT_THAT(AppArmorFact(on, refused).remedy, HasSubstr("/etc/apparmor.d/bawn"));
  EXPECT_EQ(AppArmorFact(on, works).state, "ok");
  EXPECT_EQ(AppArmorFact(off, refused).state, "ok");
  EXPECT_EQ(AppArmorFact({}, refused).state, "ok");
}

std::vector<ProbeFact> AllOk() {
  std::vector<ProbeFact> facts;
  for (const char* name :
       {"landlock", "seccomp", "userns", "namespaces", "second_userns", "namespace_lid", "proc",
        "network", "overlay_userxattr", "overlay_volatile", "pidfd", "sealed_memfd",
        "detached_exec", "cgroup"}) {
    facts.push_back({name, "ok", "", ""});
  }
  return facts;
}

TEST(HighestLevelTest, EveryFactCountsAndUnknownIsFailure) {
  EXPECT_EQ(HighestLevel(AllOk()), Level::kBounded);
  EXPECT_EQ(HighestLevel({}), Level::kNone);
  for (size_t i = 0; i < AllOk().size(); ++i) {
    for (const char* state : {"missing", "unknown"}) {
      std::vector<ProbeFact> facts = AllOk();
      facts[i].state = state;
      Level expected = i < 2                       ? Level::kNone
                       : facts[i].name == "cgroup" ? Level::kIsolated
                                                   : Level::kRestricted;
      EXPECT_EQ(HighestLevel(facts), expected) << facts[i].name;
    }
    std::vector<ProbeFact> facts = AllOk();
    facts.erase(facts.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_LT(HighestLevel(facts), Level::kBounded) << "an absent fact proves nothing";
  }
}

TEST(HighestLevelTest, RootWithoutSubuidStartsNothing) {
  std::vector<ProbeFact> facts = AllOk();
  facts.push_back({"subuid", "ok", "", ""});
  EXPECT_EQ(HighestLevel(facts), Level::kBounded);
  facts.back().state = "missing";
  EXPECT_EQ(HighestLevel(facts), Level::kNone);
  facts = AllOk();
  facts.push_back({"subuid", "ok", "", ""});
  facts[2].state = "missing";  // userns: an ordinary user still had restricted
  EXPECT_EQ(HighestLevel(facts), Level::kNone);
}

}  // namespace
}  // namespace bawn::contain
