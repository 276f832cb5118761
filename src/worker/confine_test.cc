// What a worker that a payload has taken over can still do. Each attack runs once without the walls
// (the control: it succeeds) and once behind them.
#include "worker/confine.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <functional>

#include "sys/files.h"
#include "sys/processes.h"
#include "sys/raw.h"
#include "sys/syscall_numbers.h"

namespace bawn::worker {
namespace {

class ConfineTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
    dir_ = *sys::OpenDir(AT_FDCWD, path_);
    for (const char* name : {"inside", "outside"}) {
      ASSERT_TRUE(sys::Mkdirat(dir_.get(), name, 0700));
      ASSERT_TRUE(sys::WriteFileAtomic(dir_in(name), "f", "before", 0600, false));
    }
  }
  void TearDown() override { std::ignore = system(("rm -rf " + path_).c_str()); }  // NOLINT
  int dir_in(const std::string& name) {
    held_.push_back(*sys::OpenDir(dir_.get(), name));
    return held_.back().get();
  }
  // Runs `act` in a child, behind the walls or not; true when it succeeded.
  bool Succeeds(bool confined, const std::function<bool()>& act) {
    Result<sys::Child> child = sys::Clone3(0);
    if (child->pid == 0) {
      if (confined) {
        Result<Confined> walls = Confine({path_ + "/inside", path_ + "/not-there"});
        if (!walls || !walls->landlock || !walls->seccomp) _exit(2);
      }
      _exit(act() ? 0 : 1);
    }
    bool ended = false;
    int status = sys::WaitPidfd(child->pidfd.get(), true, &ended)->status;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 2) << status;
    return status == 0;
  }
  void ExpectStopped(const char* what, const std::function<bool()>& act) {
    EXPECT_TRUE(Succeeds(false, act)) << "control: " << what;
    EXPECT_FALSE(Succeeds(true, act)) << what;
  }
  bool Call(uint32_t number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
    return sys::raw::Call(number, a, b, c) >= 0;
  }

  std::string path_ = testing::TempDir() + "/confine_XXXXXX";
  UniqueFd dir_;
  std::vector<UniqueFd> held_;
};

TEST_F(ConfineTest, WritesOnlyWhereItIsAllowed) {
  auto write = [&](const std::string& where) {
    return sys::WriteFileAtomic(dir_.get(), where + "-new", "x", 0600, false).has_value();
  };
  ExpectStopped("a new file outside", [&] { return write("outside/f"); });
  ExpectStopped("truncating outside", [&] {
    return sys::Openat2(dir_.get(), "outside/f", O_WRONLY | O_TRUNC).has_value();
  });
  ExpectStopped("removing outside",
                [&] { return sys::Unlinkat(dir_.get(), "outside/f-new").has_value(); });
  ExpectStopped("moving out", [&] {
    (void)write("inside/g");
    return sys::Renameat2(dir_.get(), "inside/g-new", dir_.get(), "outside/g").has_value();
  });
  ExpectStopped("a link outside",
                [&] { return sys::Symlinkat("x", dir_.get(), "outside/l").has_value(); });
  // What the ops do need.
  EXPECT_TRUE(Succeeds(true, [&] {
    UniqueFd inside = *sys::OpenDir(dir_.get(), "inside");
    Result<UniqueFd> nameless = sys::Openat2(inside.get(), ".", O_TMPFILE | O_RDWR, 0600);
    return nameless && sys::LinkFd(nameless->get(), inside.get(), "linked") &&
           sys::MakeDirs(inside.get(), "a/b", 0700) &&
           sys::Renameat2(inside.get(), "linked", inside.get(), "a/b/moved") &&
           sys::Symlinkat("x", inside.get(), "a/link") &&
           sys::Unlinkat(inside.get(), "a/b/moved") &&
           sys::ReadFileAt(AT_FDCWD, path_ + "/outside/f", 100);
  }));
}

TEST_F(ConfineTest, NoProgramNoProcessNoSocketNoOtherProcess) {
  ExpectStopped("exec", [&] {
    execl("/bin/true", "true", nullptr);
    return false;
  });
  ExpectStopped("fork", [&] { return fork() >= 0; });
  constexpr std::pair<uint64_t, uint64_t> kSockets[] = {
      {1, 1} /* unix stream */, {2, 1} /* inet */, {2, 2}, {10, 2}, {16, 3} /* netlink raw */};
  for (auto [family, type] : kSockets) {
    ExpectStopped("socket", [&] { return Call(sys::kNrSocket, family, type); });
  }
  pid_t parent = getpid();
  ExpectStopped("kill", [&] { return kill(parent, 0) == 0; });
  ExpectStopped("pidfd_open",
                [&] { return Call(sys::kNrPidfdOpen, static_cast<uint64_t>(parent)); });
  ExpectStopped("a user namespace", [&] { return Call(sys::kNrUnshare, 0x10000000); });
  // RT-06: the high half of an argument makes no difference.
  EXPECT_FALSE(Succeeds(true, [&] { return Call(sys::kNrClone, uint64_t{1} << 32 | SIGCHLD); }));
  EXPECT_FALSE(Succeeds(true, [&] { return Call(sys::kNrSocket | 0x40000000, 1, 1); }));
}

}  // namespace
}  // namespace bawn::worker
