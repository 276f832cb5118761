#include "contain/landlock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "contain/test_child.h"
#include "sys/files.h"
#include "sys/raw.h"
#include "sys/sockets.h"
#include "sys/syscall_numbers.h"

namespace bawn::contain {
namespace {

using plan::Level;
using plan::PathRights;

int Enter(const std::vector<plan::LandlockRule>& rules, Level level = Level::kIsolated) {
  Result<UniqueFd> ruleset = BuildFileRuleset(rules, level);
  if (!ruleset) return ENOSYS;
  int failed = sys::raw::SetNoNewPrivs();
  return failed != 0 ? failed : EnterRuleset(ruleset->get());
}

int EnterScopes() {
  Result<UniqueFd> ruleset = BuildScopeRuleset();
  if (!ruleset) return ENOSYS;
  int failed = sys::raw::SetNoNewPrivs();
  return failed != 0 ? failed : EnterRuleset(ruleset->get());
}

int OpenErrno(const std::string& path, int flags) {
  UniqueFd fd(open(path.c_str(), flags | O_CLOEXEC, 0600));
  return fd.valid() ? 0 : errno;
}

struct Dirs {
  TempDir root;
  Dirs() {
    EXPECT_TRUE(sys::Mkdirat(AT_FDCWD, root / "a", 0700));
    EXPECT_TRUE(sys::Mkdirat(AT_FDCWD, root / "b", 0700));
    EXPECT_EQ(OpenErrno(root / "a/f", O_WRONLY | O_CREAT), 0);
  }
};

TEST(LandlockTest, AbiHasScopes) { EXPECT_GE(LandlockAbi(), 6); }

TEST(LandlockTest, RefusesWriteOutsideTheRules) {
  Dirs dirs;
  std::string outside = dirs.root / "f";
  EXPECT_EQ(ExitOf([&] { return OpenErrno(outside, O_WRONLY | O_CREAT); }), 0) << "control";
  auto behind = [&](int flags, const std::string& path) {
    return ExitOf([&] {
      if (Enter({{dirs.root / "a", PathRights::kWrite}, {dirs.root / "b", PathRights::kRead}})) {
        return 200;
      }
      return OpenErrno(path, flags);
    });
  };
  EXPECT_EQ(behind(O_WRONLY, outside), EACCES);
  EXPECT_EQ(behind(O_RDONLY, outside), EACCES);
  EXPECT_EQ(behind(O_RDWR | O_TRUNC, dirs.root / "a/f"), 0);
  EXPECT_EQ(behind(O_WRONLY | O_CREAT, dirs.root / "b/f"), EACCES);
  EXPECT_EQ(behind(O_RDONLY | O_DIRECTORY, dirs.root / "b"), 0);
}

TEST(LandlockTest, RenamesAcrossDirectoriesOnlyWhereWriteIsGranted) {
  Dirs dirs;
  auto rename_behind = [&](PathRights of_b) {
    return ExitOf([&] {
      if (Enter({{dirs.root / "a", PathRights::kWrite}, {dirs.root / "b", of_b}})) return 200;
      int failed = rename((dirs.root / "a/f").c_str(), (dirs.root / "b/f").c_str());
      return failed != 0 ? errno : 0;
    });
  };
  EXPECT_EQ(rename_behind(PathRights::kRead), EACCES);
  EXPECT_EQ(rename_behind(PathRights::kWrite), 0);
}

TEST(LandlockTest, RefusesExecuteWhereOnlyWriteIsGranted) {
  auto run = [](PathRights rights) {
    return ExitOf([&] {
      if (Enter({{"/", rights}})) return 200;
      execl("/bin/true", "true", nullptr);
      return errno;
    });
  };
  EXPECT_EQ(run(PathRights::kWriteNoExecute), EACCES);
  EXPECT_EQ(run(PathRights::kRead), EACCES);
  EXPECT_EQ(run(PathRights::kReadExecute), 0);
  EXPECT_EQ(run(PathRights::kWrite), 0);
}

TEST(LandlockTest, DeviceRuleOpensADeviceFileAndAllowsItsIoctls) {
  auto ioctl_of = [](PathRights rights) {
    return ExitOf([&] {
      if (Enter({{"/dev/ptmx", rights}, {"/dev/pts", rights}})) return 200;
      UniqueFd fd(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
      if (!fd.valid()) return errno;
      constexpr uint64_t kTiocgptn = 0x80045430;
      unsigned number = 0;
      return static_cast<int>(-sys::raw::Call(sys::kNrIoctl, static_cast<uint64_t>(fd.get()),
                                              kTiocgptn, sys::raw::Arg(&number)));
    });
  };
  EXPECT_EQ(ioctl_of(PathRights::kDevice), 0);
  EXPECT_EQ(ioctl_of(PathRights::kWrite), EACCES) << "write grants no device ioctl";
}

TEST(LandlockTest, LeavesOutAbsentPathsAndSymlinks) {
  Dirs dirs;
  ASSERT_TRUE(sys::Symlinkat(dirs.root / "a", AT_FDCWD, dirs.root / "s"));
  EXPECT_EQ(ExitOf([&] {
              if (Enter({{dirs.root / "absent", PathRights::kWrite},
                         {dirs.root / "a/f/below", PathRights::kWrite},
                         {dirs.root / "s", PathRights::kWrite}})) {
                return 200;
              }
              return OpenErrno(dirs.root / "a/f", O_WRONLY);
            }),
            EACCES);
}

TEST(LandlockTest, RefusesToMakeDeviceNodes) {
  Dirs dirs;
  auto whiteout = [&](bool behind) {
    return ExitOf([&] {
      if (behind && Enter({{dirs.root / "a", PathRights::kWrite}})) return 200;
      Result<> made = sys::Mknodat(AT_FDCWD, dirs.root / "a/g", S_IFCHR | 0600, 0);
      return made ? 0 : made.error().sys_errno;
    });
  };
  EXPECT_EQ(whiteout(true), EACCES);
  EXPECT_EQ(whiteout(false), 0) << "control";
}

TEST(LandlockTest, RefusesSignalsOutOfTheDomain) {
  pid_t outside = getpid();
  EXPECT_EQ(ExitOf([&] { return kill(outside, 0) != 0 ? errno : 0; }), 0) << "control";
  EXPECT_EQ(ExitOf([&] {
              if (EnterScopes() != 0) return 200;
              return kill(outside, 0) != 0 ? errno : 0;
            }),
            EPERM);
  EXPECT_EQ(ExitOf([&] {
              if (Enter({}) != 0) return 200;
              return kill(outside, 0) != 0 ? errno : 0;
            }),
            EPERM);
}

// The guard of RT-14: in its own domain, the job's nested in it.
int GuardAndJob(bool job_signals_guard) {
  if (EnterScopes() != 0) return 200;
  auto [reader, writer] = sys::Pipe().value();
  pid_t guard = getpid();
  Result<sys::Child> job = sys::Clone3(0);
  if (!job) return 201;
  if (job->pid == 0) {
    if (Enter({{"/", PathRights::kRead}}) != 0) _exit(202);
    if (job_signals_guard) _exit(kill(guard, 0) != 0 ? errno : 0);
    if (write(writer.get(), "x", 1) != 1) _exit(203);
    for (;;) pause();
  }
  if (!job_signals_guard) {
    char byte = 0;
    if (read(reader.get(), &byte, 1) != 1) return 204;
    if (kill(job->pid, SIGKILL) != 0) return errno;
  }
  bool ended = false;
  int status = sys::WaitPidfd(job->pidfd.get(), true, &ended).value().status;
  if (job_signals_guard) return WEXITSTATUS(status);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 205;
}

TEST(LandlockTest, GuardKillsItsJobAndTheJobCannotSignalTheGuard) {
  EXPECT_EQ(ExitOf([] { return GuardAndJob(false); }), 0);
  EXPECT_EQ(ExitOf([] { return GuardAndJob(true); }), EPERM);
}

struct InetAddress {
  uint16_t family = 2;  // AF_INET
  uint16_t port = 0;    // any
  uint32_t address = 0x0100007f;
  uint8_t zero[8] = {};
};

TEST(LandlockTest, HandlesTcpOnlyAtRestricted) {
  auto bind_loopback = [](Level level) {
    return ExitOf([&] {
      if (Enter({}, level) != 0) return 200;
      constexpr uint64_t kStream = 1;
      long fd = sys::raw::Call(sys::kNrSocket, 2, kStream, 0);
      if (fd < 0) return 201;
      InetAddress address;
      return static_cast<int>(-sys::raw::Call(sys::kNrBind, static_cast<uint64_t>(fd),
                                              sys::raw::Arg(&address), sizeof address));
    });
  };
  EXPECT_EQ(bind_loopback(Level::kIsolated), 0) << "RT-21: loopback tests must work";
  EXPECT_EQ(bind_loopback(Level::kRestricted), EACCES);
}

TEST(LandlockTest, RestrictingWithoutNoNewPrivsIsAnErrnoNotAnAbort) {
  EXPECT_EQ(ExitOf([] { return EnterRuleset(-1); }), geteuid() == 0 ? EBADF : EPERM);
}

}  // namespace
}  // namespace bawn::contain
