// The filter in the kernel: each attack in a forked child, beside the same call without the filter.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "contain/seccomp.h"
#include "contain/test_child.h"
#include "sys/raw.h"
#include "sys/syscall_numbers.h"

namespace bawn::contain {
namespace {

using plan::Level;
using sys::raw::Arg;
using sys::raw::Call;
using enum sys::SyscallNumber;

constexpr uint64_t kBit32 = uint64_t{1} << 32, kBit63 = uint64_t{1} << 63;
constexpr uint64_t kInet = 2, kInet6 = 10, kUnix = 1, kNetlink = 16, kPacket = 17, kVsock = 40;
constexpr uint64_t kStream = 1, kDgram = 2, kRaw = 3;
constexpr uint64_t kNewUser = 0x10000000, kNewNs = 0x20000, kNewPid = 0x20000000;

int Load(const std::vector<std::string>& profiles, Level level) {
  auto program = SeccompProgram(profiles, level).value();
  int failed = sys::raw::SetNoNewPrivs();
  return failed != 0 ? failed : LoadSeccomp(program);
}

// The errno of `call` in a child without the filter, 0 when it works.
template <class F>
int Without(F call) {
  return ExitOf([&] {
    long result = call();
    return result < 0 ? static_cast<int>(-result) : 0;
  });
}

// The same behind it; 255 when the filter does not load.
template <class F>
int Behind(F call, const std::vector<std::string>& profiles = {}, Level level = Level::kIsolated) {
  return ExitOf([&] {
    if (Load(profiles, level) != 0) return 255;
    long result = call();
    return result < 0 ? static_cast<int>(-result) : 0;
  });
}

auto Socket(uint64_t family, uint64_t type, uint64_t protocol) {
  return [=] { return Call(kNrSocket, family, type, protocol); };
}

constexpr int kKilledBySigsys = 1000 + SIGSYS;

TEST(SeccompKernelTest, KillsThe32BitEntry) {
  auto getpid_by_int80 = [] { return sys::raw::GetpidByInt80() > 0 ? 0L : -1L; };
  EXPECT_EQ(Without(getpid_by_int80), 0) << "control: IA32 emulation is on";
  EXPECT_EQ(Behind(getpid_by_int80), kKilledBySigsys);
}

TEST(SeccompKernelTest, X32NumbersAreNotImplemented) {
  auto x32_getpid = [] { return Call(kNrGetpid | 0x40000000); };
  EXPECT_EQ(Behind(x32_getpid), ENOSYS);
  EXPECT_EQ(Behind([] { return Call(kNrGetpid); }), 0) << "control";
}

TEST(SeccompKernelTest, RefusesVsockAlsoWithHighBitsSet) {
  ASSERT_EQ(Without(Socket(kVsock | kBit32, kStream, 0)), Without(Socket(kVsock, kStream, 0)))
      << "control: the kernel ignores bit 32";
  for (uint64_t high : {uint64_t{0}, kBit32, kBit63}) {
    EXPECT_EQ(Behind(Socket(kVsock | high, kStream, 0)), EAFNOSUPPORT);
    EXPECT_EQ(Behind(Socket(kPacket | high, kRaw, 0)), EAFNOSUPPORT);
    EXPECT_EQ(Behind(Socket(kInet | high, 10 /*SOCK_PACKET*/, 0)), EPROTONOSUPPORT);
  }
}

TEST(SeccompKernelTest, AllowsTheSocketsOfATestSuite) {
  EXPECT_EQ(Behind(Socket(kUnix, kStream, 0)), 0);
  EXPECT_EQ(Behind(Socket(kUnix, kDgram, 0)), 0);
  EXPECT_EQ(Behind(Socket(kInet, kStream, 0)), 0);
  EXPECT_EQ(Behind(Socket(kInet, kStream | 0x80000, 6)), 0);
  EXPECT_EQ(Behind(Socket(kInet6, kDgram, 17)), Without(Socket(kInet6, kDgram, 17)));
  EXPECT_EQ(Behind(Socket(kNetlink, kRaw, 0 /*ROUTE*/)), 0);
}

TEST(SeccompKernelTest, RefusesOtherNetlinkAndOtherInetProtocols) {
  EXPECT_EQ(Without(Socket(kNetlink, kRaw, 16 /*GENERIC*/)), 0) << "control";
  for (uint64_t protocol : {12u /*NETFILTER*/, 16u, 9u /*AUDIT*/, 15u /*KOBJECT_UEVENT*/}) {
    EXPECT_EQ(Behind(Socket(kNetlink, kRaw, protocol)), EPROTONOSUPPORT);
    EXPECT_EQ(Behind(Socket(kNetlink, kRaw, protocol | kBit32)), EPROTONOSUPPORT);
  }
  EXPECT_EQ(Behind(Socket(kInet, kStream, 262 /*MPTCP*/)), EPROTONOSUPPORT);
  EXPECT_EQ(Behind(Socket(kInet, 5 /*SEQPACKET*/, 0)), EPROTONOSUPPORT);
}

TEST(SeccompKernelTest, IoUringAndClone3FallBack) {
  auto io_uring = [] {
    char parameters[120] = {};
    return Call(kNrIoUringSetup, 1, Arg(parameters));
  };
  EXPECT_NE(Without(io_uring), ENOSYS) << "control: built in";
  EXPECT_EQ(Behind(io_uring), ENOSYS);
  auto clone3 = [] { return Call(kNrClone3, 0, 0); };
  EXPECT_EQ(Without(clone3), EINVAL) << "control";
  EXPECT_EQ(Behind(clone3), ENOSYS);
  auto fork_works = [] {
    pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0 ? 0L : -long{errno};
  };
  EXPECT_EQ(Behind(fork_works), 0);
}

TEST(SeccompKernelTest, RefusesNamespacesInEveryCall) {
  auto unshare = [](uint64_t flags) { return [=] { return Call(kNrUnshare, flags); }; };
  EXPECT_EQ(Without(unshare(kNewUser)), 0) << "control";
  EXPECT_EQ(Behind(unshare(kNewUser)), EPERM);
  EXPECT_EQ(Behind(unshare(kNewUser | kNewNs)), EPERM);
  EXPECT_EQ(Behind(unshare(0x80 /*NEWTIME*/)), EPERM);
  EXPECT_EQ(Behind(unshare(0x600 /*FS and FILES*/)), 0);
  auto clone = [](uint64_t flags) {
    return [=] {
      long child = Call(kNrClone, flags | SIGCHLD, 0, 0, 0, 0);
      if (child == 0) _exit(0);
      return child < 0 ? child : 0;
    };
  };
  EXPECT_EQ(Without(clone(kNewUser)), 0) << "control";
  EXPECT_EQ(Behind(clone(kNewUser)), EPERM);
  EXPECT_EQ(Behind(clone(kNewUser | kBit32)), EPERM);
  EXPECT_EQ(Behind(clone(kBit32)), 0);
  EXPECT_EQ(Behind([] { return Call(kNrSetns, 0, 0); }), EPERM);
}

TEST(SeccompKernelTest, BrowserMakesItsOwnSandboxButNoMounts) {
  auto unshare = [](uint64_t flags) { return [=] { return Call(kNrUnshare, flags); }; };
  EXPECT_EQ(Behind(unshare(kNewUser | kNewPid), {"browser"}), 0);
  EXPECT_EQ(Behind(unshare(kNewUser | kNewNs), {"browser"}), EPERM);
  auto mount_as_nested_root = [] {
    long made = Call(kNrUnshare, kNewUser);
    return made < 0 ? -200 : Call(kNrMount, Arg("x"), Arg("/tmp"), Arg("tmpfs"), 0, 0);
  };
  EXPECT_EQ(Behind(mount_as_nested_root, {"browser"}), EPERM);
}

TEST(SeccompKernelTest, RefusesTheMountFamily) {
  const uint64_t kNumbers[] = {kNrMount,     kNrUmount2, kNrPivotRoot,    kNrOpenTree,
                               kNrMoveMount, kNrFsopen,  kNrFsmount,      kNrMountSetattr,
                               kNrFsconfig,  kNrFspick,  kNrOpenTreeAttr, kNrChroot};
  for (uint64_t number : kNumbers) {
    EXPECT_EQ(Behind([=] { return Call(number, ~0u, 0, 0, 0, 0); }), EPERM) << number;
  }
}

TEST(SeccompKernelTest, RefusesTerminalIoctlsMasked) {
  // On a bad descriptor the kernel itself says EBADF, so EPERM is the filter's.
  for (uint64_t command : {0x5412u /*TIOCSTI*/, 0x541cu /*TIOCLINUX*/, 0x5423u /*TIOCSETD*/}) {
    for (uint64_t high : {uint64_t{0}, kBit32, kBit63}) {
      auto ioctl = [=] { return Call(kNrIoctl, ~0u, command | high, 0); };
      EXPECT_EQ(Without(ioctl), EBADF) << "control";
      EXPECT_EQ(Behind(ioctl), EPERM);
    }
  }
  EXPECT_EQ(Behind([] { return Call(kNrIoctl, ~0u, 0x5413 /*TIOCGWINSZ*/, 0); }), EBADF);
}

TEST(SeccompKernelTest, PersonalityOnlyForAslrOff) {
  auto personality = [](uint64_t value) { return [=] { return Call(kNrPersonality, value); }; };
  EXPECT_EQ(Without(personality(0x400000)), 0) << "control: READ_IMPLIES_EXEC";
  EXPECT_EQ(Behind(personality(0x400000)), EPERM);
  EXPECT_EQ(Behind(personality(0x400000 | kBit32)), EPERM);
  EXPECT_EQ(Behind(personality(0x40000)), 0);
  EXPECT_EQ(Behind(personality(0xffffffff)), 0);
}

// What LeakSanitizer and gdb do: attach to another process of one's own, read it, let it go.
long AttachToAChild() {
  constexpr uint64_t kAttach = 16, kDetach = 17, kPeekUser = 3, kWaitAll = 0x40000000 /*__WALL*/;
  pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  auto pid = static_cast<uint64_t>(child);
  long result = Call(kNrPtrace, kAttach, pid);
  uint64_t word = 0;
  if (result == 0) result = Call(kNrWait4, pid, 0, kWaitAll, 0) == child ? 0 : -200;
  if (result == 0) result = Call(kNrPtrace, kPeekUser, pid, 0, Arg(&word));
  if (result == 0) result = Call(kNrPtrace, kDetach, pid);
  kill(child, SIGKILL);
  Call(kNrWait4, pid, 0, kWaitAll, 0);
  return result;
}

TEST(SeccompKernelTest, SanitizersAndDebuggersWork) {
  EXPECT_EQ(Without(AttachToAChild), 0) << "control";
  EXPECT_EQ(Behind(AttachToAChild), 0);
  EXPECT_EQ(Behind([] { return Call(kNrPidfdOpen, static_cast<uint64_t>(getpid()), 0); }), 0);
  auto perf = [] {
    char attributes[128] = {};
    attributes[4] = 64;  // size; type 0 and config 0: hardware cycles
    return Call(kNrPerfEventOpen, Arg(attributes), 0, ~uint64_t{0}, ~uint64_t{0}, 0);
  };
  EXPECT_EQ(Behind(perf), EPERM);
  EXPECT_EQ(Behind(perf, {"debug"}), Without(perf));
}

struct UnixAddress {
  uint16_t family = kUnix;
  char path[108] = {};
};

// A listening datagram socket on a path stands for the system's log or service manager.
long SendThroughSocketpair(uint64_t type, const UnixAddress& to) {
  int pair[2] = {-1, -1};
  long made = Call(kNrSocketpair, kUnix, type, 0, Arg(pair));
  if (made < 0) return made;
  long sent = Call(kNrSendto, static_cast<uint64_t>(pair[0]), Arg("x"), 1, 0, Arg(&to), sizeof to);
  return sent < 0 ? sent : 0;
}

TEST(SeccompKernelTest, RestrictedHasNoSocketThatReachesAPath) {
  TempDir dir;
  UnixAddress address;
  std::string path = dir / "s";
  std::memcpy(address.path, path.c_str(), path.size());
  long listener = Call(kNrSocket, kUnix, kDgram | 0x80000, 0);
  ASSERT_GE(listener, 0);
  UniqueFd owner(static_cast<int>(listener));
  ASSERT_EQ(Call(kNrBind, static_cast<uint64_t>(listener), Arg(&address), sizeof address), 0);
  auto dgram = [&] { return SendThroughSocketpair(kDgram, address); };
  auto raw = [&] { return SendThroughSocketpair(kRaw, address); };
  auto stream = [&] { return SendThroughSocketpair(kStream, address); };
  EXPECT_EQ(Without(dgram), 0) << "control: a datagram pair reaches any path";
  EXPECT_EQ(Without(raw), 0) << "control";
  EXPECT_EQ(Behind(dgram, {}, Level::kRestricted), EPROTONOSUPPORT);
  EXPECT_EQ(Behind(raw, {}, Level::kRestricted), EPROTONOSUPPORT);
  EXPECT_EQ(Behind(stream, {}, Level::kRestricted), EISCONN);
  for (uint64_t family : {kUnix, kInet, kInet6, kNetlink}) {
    EXPECT_EQ(Behind(Socket(family, kDgram, 0), {}, Level::kRestricted), EAFNOSUPPORT);
  }
}

TEST(SeccompKernelTest, CannotLimitOtherProcessesAtAnyLevel) {
  auto parent = static_cast<uint64_t>(getpid());
  constexpr uint64_t kCore = 4;
  auto read_limit = [](uint64_t pid) {
    return [=] {
      uint64_t limit[2] = {};
      return Call(kNrPrlimit64, pid, kCore, 0, Arg(limit));
    };
  };
  EXPECT_EQ(Without(read_limit(parent)), 0) << "control";
  for (Level level : {Level::kRestricted, Level::kIsolated}) {
    EXPECT_EQ(Behind(read_limit(parent), {}, level), EPERM);
    EXPECT_EQ(Behind(read_limit(parent | kBit32), {}, level), EPERM);
    EXPECT_EQ(Behind(read_limit(0), {}, level), 0);
  }
}

TEST(SeccompKernelTest, LoadingWithoutNoNewPrivsIsAnErrno) {
  auto load = [] { return -long{LoadSeccomp(SeccompProgram({}).value())}; };
  EXPECT_EQ(Without(load), geteuid() == 0 ? 0 : EACCES);
}

TEST(SeccompKernelTest, APayloadMayFilterItsOwnChildren) {
  auto second = [] { return -long{Load({}, Level::kIsolated)}; };
  EXPECT_EQ(Behind(second), 0);
}

}  // namespace
}  // namespace bawn::contain
