// Runs as root and as an ordinary user; only root can plant survivors with ids of a range, so those
// parts are root's, and what finds them is tested with the caller's own ids for everybody.
#include "launch/id_ranges.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "base/ids.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/processes.h"
#include "sys/raw.h"
#include "sys/sockets.h"
#include "sys/syscall_numbers.h"

namespace bawn::launch {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kFirst = 1879048192;
constexpr int kCycles = 2000;

bool IsRoot() { return geteuid() == 0; }

Result<> RemoveAll(int parent, const std::string& name) {
  Result<UniqueFd> dir = sys::OpenDir(parent, name, sys::kNoSymlinks);
  if (dir) {
    for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(dir->get()))) {
      BAWN_CHECK_OK(RemoveAll(dir->get(), entry.name));
    }
    return sys::Unlinkat(parent, name, AT_REMOVEDIR);
  }
  return sys::Unlinkat(parent, name);
}

class IdRangesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = "/tmp/bawn_ids_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    state_.path = pattern;
    state_.fd = sys::OpenDir(AT_FDCWD, pattern).value();
    files_ = {pattern + "/subuid", pattern + "/subgid", pattern + "/passwd", pattern + "/group"};
    WriteEntries(16 * kIdsPerLease);
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(AT_FDCWD, state_.path)); }

  void WriteEntries(uint32_t count, uint32_t first = kFirst) {
    std::string line = "bawn:" + std::to_string(first) + ":" + std::to_string(count) + "\n";
    ASSERT_TRUE(sys::WriteFileAtomic(state_.fd.get(), "subuid", line, 0644, false));
    ASSERT_TRUE(sys::WriteFileAtomic(state_.fd.get(), "subgid", line, 0644, false));
  }
  IdRanges Open() { return IdRanges::Open(state_, files_).value(); }
  std::string MakeSandbox() {
    std::string id = NewId("sb_");
    EXPECT_TRUE(sys::MakeDirs(state_.fd.get(), "sb/" + id + "/layers/0/upper", 0700));
    return id;
  }
  void RemoveSandbox(const std::string& id) { EXPECT_TRUE(RemoveAll(state_.fd.get(), "sb/" + id)); }

  workspace::StateDir state_;
  contain::SubIdFiles files_;
};

// A process with the ids of a lease, standing for one that outlived its sandbox.
class Survivor {
 public:
  explicit Survivor(uint32_t id) {
    auto [reader, writer] = sys::Pipe().value();
    child_ = sys::Clone3(0).value();
    if (child_.pid == 0) {
      bool taken = sys::TakeIds(id, id).has_value();
      (void)sys::WriteAll(writer.get(), taken ? "y" : "n");
      for (;;) pause();
    }
    char answer = 0;
    EXPECT_EQ(read(reader.get(), &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
  }
  Survivor(const Survivor&) = delete;
  Survivor& operator=(const Survivor&) = delete;
  ~Survivor() {
    bool ended = false;
    EXPECT_TRUE(sys::PidfdSendSignal(child_.pidfd.get(), SIGKILL));
    EXPECT_TRUE(sys::WaitPidfd(child_.pidfd.get(), true, &ended));
  }
  std::string name() const { return "process " + std::to_string(child_.pid); }

 private:
  sys::Child child_;
};

TEST_F(IdRangesTest, LeasesAreDisjointRecordedAndListed) {
  IdRanges ranges = Open();
  IdLease a = ranges.Lease(NewId("sb_")).value(), b = ranges.Lease(NewId("sb_")).value();
  EXPECT_EQ(a.outer_uid, kFirst);
  EXPECT_EQ(b.outer_uid, kFirst + kIdsPerLease);
  EXPECT_EQ(b.outer_gid, kFirst + kIdsPerLease);
  EXPECT_EQ(Open().List()->size(), 2u) << "by another process, after a crash";
  Result<IdLease> again = ranges.Lease(a.sandbox_id);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(ranges.Release(a.sandbox_id));
  EXPECT_EQ(ranges.Release(a.sandbox_id).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ranges.Lease(NewId("sb_"))->outer_uid, kFirst) << "the lowest free one";
}

TEST_F(IdRangesTest, TheLastRangeIsLeasedAndOneMoreIsExhausted) {
  WriteEntries(3 * kIdsPerLease - 1);
  IdRanges ranges = Open();
  ASSERT_TRUE(ranges.Lease(NewId("sb_")));
  ASSERT_TRUE(ranges.Lease(NewId("sb_")));
  Result<IdLease> third = ranges.Lease(NewId("sb_"));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(third.error().message, HasSubstr("all 2 ranges"));
}

TEST_F(IdRangesTest, RefusesToOpenWithoutAnEntryOrWithOneTooSmallOrShared) {
  WriteEntries(kIdsPerLease);
  EXPECT_TRUE(IdRanges::Open(state_, files_)) << "control: exactly one lease";
  WriteEntries(kIdsPerLease - 1);
  EXPECT_THAT(IdRanges::Open(state_, files_).error().message, HasSubstr("at least 1024 ids"));
  ASSERT_TRUE(sys::WriteFileAtomic(state_.fd.get(), "subuid", "carol:1:2\n", 0644, false));
  Result<IdRanges> absent = IdRanges::Open(state_, files_);
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().hint, HasSubstr("add the line bawn:"));
  WriteEntries(4096);
  ASSERT_TRUE(sys::WriteFileAtomic(state_.fd.get(), "passwd",
                                   "m:x:" + std::to_string(kFirst + 4095) + ":1::/:/bin/sh\n", 0644,
                                   false));
  EXPECT_THAT(IdRanges::Open(state_, files_).error().message, HasSubstr("overlaps m in"));
}

TEST_F(IdRangesTest, AMovedEntryLeasesNothingThatARecordHolds) {
  IdLease old = Open().Lease(NewId("sb_")).value();
  WriteEntries(4 * kIdsPerLease, kFirst - kIdsPerLease / 2);
  IdLease next = Open().Lease(NewId("sb_")).value();
  EXPECT_EQ(next.outer_uid, kFirst - kIdsPerLease / 2 + 2 * kIdsPerLease);
  EXPECT_GE(next.outer_uid, old.outer_uid + kIdsPerLease);
}

TEST_F(IdRangesTest, ADamagedRecordStopsEverythingByName) {
  IdRanges ranges = Open();
  ASSERT_TRUE(ranges.Lease(NewId("sb_")));
  UniqueFd ids = sys::OpenDir(state_.fd.get(), "ids").value();
  ASSERT_TRUE(sys::WriteFileAtomic(ids.get(), "0", "sb_x 1 2\n", 0600, false));
  Result<IdLease> lease = ranges.Lease(NewId("sb_"));
  ASSERT_FALSE(lease);
  EXPECT_THAT(lease.error().message, HasSubstr("ids/0 is damaged"));
}

TEST_F(IdRangesTest, TemporariesOfAKilledWriterAreRemoved) {
  IdRanges ranges = Open();
  UniqueFd ids = sys::OpenDir(state_.fd.get(), "ids").value();
  ASSERT_TRUE(sys::Openat2(ids.get(), ".tmp_x", O_WRONLY | O_CREAT, 0600));
  ASSERT_TRUE(ranges.Lease(NewId("sb_")));
  EXPECT_FALSE(sys::Fstatat(ids.get(), ".tmp_x"));
}

TEST_F(IdRangesTest, ReleaseAbandonedKeepsTheWanted) {
  IdRanges ranges = Open();
  IdLease wanted = ranges.Lease(NewId("sb_")).value();
  ASSERT_TRUE(ranges.Lease(NewId("sb_")));
  auto remaining =
      ranges.ReleaseAbandoned([&](const std::string& id) { return id == wanted.sandbox_id; });
  ASSERT_TRUE(remaining);
  EXPECT_TRUE(remaining->empty());
  ASSERT_EQ(ranges.List()->size(), 1u);
  EXPECT_EQ(ranges.List()->front().sandbox_id, wanted.sandbox_id);
}

// 2,000 leases with survivors planted in between; an ordinary user cannot plant any.
TEST_F(IdRangesTest, TwoThousandCyclesNeverGiveARangeWithASurvivor) {
  IdRanges ranges = Open();
  std::optional<Survivor> process;
  std::string file_sandbox;
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    if (cycle == 500 && IsRoot()) process.emplace(kFirst + 7);
    if (cycle == 1000 && IsRoot()) {
      file_sandbox = MakeSandbox();
      ASSERT_TRUE(sys::Fchownat(state_.fd.get(), "sb/" + file_sandbox + "/layers/0/upper",
                                kFirst + kIdsPerLease, 0, 0));
    }
    if (cycle == 1500) process.reset();
    Result<IdLease> lease = ranges.Lease(NewId("sb_"));
    ASSERT_TRUE(lease) << lease.error().message;
    uint32_t index = 0;
    if (IsRoot() && cycle >= 500 && cycle < 1000) index = 1;
    if (IsRoot() && cycle >= 1000 && cycle < 1500) index = 2;
    ASSERT_EQ(lease->outer_uid, kFirst + index * kIdsPerLease) << cycle;
    Result<> released = ranges.Release(lease->sandbox_id);
    ASSERT_TRUE(released) << released.error().message;
  }
  EXPECT_TRUE(ranges.List()->empty());
}

TEST_F(IdRangesTest, ALeaseWithASurvivingProcessIsNotReleased) {
  IdRanges ranges = Open();
  IdLease lease = ranges.Lease(NewId("sb_")).value();
  if (IsRoot()) {
    Survivor process(lease.outer_uid + kIdsPerLease - 1);
    Result<> released = ranges.Release(lease.sandbox_id);
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().code, ErrorCode::kConflict);
    EXPECT_THAT(released.error().message, HasSubstr(process.name() + " has "));
    auto remaining = ranges.ReleaseAbandoned([](const std::string&) { return false; });
    ASSERT_EQ(remaining->size(), 1u);
    EXPECT_THAT(remaining->front().why, HasSubstr(process.name()));
    EXPECT_EQ(ranges.List()->size(), 1u);
  }
  EXPECT_TRUE(ranges.Release(lease.sandbox_id));
}

TEST_F(IdRangesTest, ALeaseWithAFileInItsSandboxIsNotReleased) {
  IdRanges ranges = Open();
  IdLease lease = ranges.Lease(MakeSandbox()).value();
  std::string deep = "sb/" + lease.sandbox_id + "/layers/0/upper/a/b/c";
  ASSERT_TRUE(sys::MakeDirs(state_.fd.get(), deep, 0700));
  if (IsRoot()) {
    ASSERT_TRUE(sys::Fchownat(state_.fd.get(), deep, 0, lease.outer_gid, 0));
    Result<> released = ranges.Release(lease.sandbox_id);
    ASSERT_FALSE(released);
    EXPECT_THAT(released.error().message, HasSubstr("file layers/0/upper/a/b/c has gid"));
  }
  RemoveSandbox(lease.sandbox_id);
  EXPECT_TRUE(ranges.Release(lease.sandbox_id));
}

TEST_F(IdRangesTest, ALeaseWithAnIpcObjectIsNotReleased) {
  IdRanges ranges = Open();
  IdLease lease = ranges.Lease(NewId("sb_")).value();
  if (IsRoot()) {
    auto [reader, writer] = sys::Pipe().value();
    sys::Child maker = sys::Clone3(0).value();
    if (maker.pid == 0) {
      if (!sys::TakeIds(lease.outer_uid, lease.outer_gid)) _exit(1);
      long id = sys::raw::Call(sys::kNrShmget, 0 /*private*/, 4096, 0600);
      _exit(write(writer.get(), &id, sizeof id) == sizeof id ? 0 : 1);
    }
    long id = -1;
    ASSERT_EQ(read(reader.get(), &id, sizeof id), ssize_t{sizeof id});
    bool ended = false;
    ASSERT_TRUE(sys::WaitPidfd(maker.pidfd.get(), true, &ended));
    EXPECT_THAT(ranges.Release(lease.sandbox_id).error().message, HasSubstr("sysvipc/shm"));
    sys::raw::Call(sys::kNrShmctl, static_cast<uint64_t>(id), 0 /*IPC_RMID*/, 0);
  }
  EXPECT_TRUE(ranges.Release(lease.sandbox_id));
}

TEST_F(IdRangesTest, ALeaseWithAKeyIsNotReleased) {
  IdRanges ranges = Open();
  IdLease lease = ranges.Lease(NewId("sb_")).value();
  if (IsRoot()) {
    auto [reader, writer] = sys::Pipe().value();
    sys::Child holder = sys::Clone3(0).value();
    if (holder.pid == 0) {
      // In the session keyring of its own: the key dies with the process.
      if (!sys::TakeIds(lease.outer_uid, lease.outer_gid)) _exit(1);
      constexpr uint64_t kJoinSession = 1;
      sys::raw::Call(sys::kNrKeyctl, kJoinSession, 0);
      (void)sys::WriteAll(writer.get(), "y");
      for (;;) pause();
    }
    char ready = 0;
    ASSERT_EQ(read(reader.get(), &ready, 1), 1);
    contain::SubIds span = {{lease.outer_uid, lease.count}, {lease.outer_gid, lease.count}};
    bool key = false;
    for (const UsedId& used : UsedByKernel(span).value()) key |= used.by.starts_with("key");
    EXPECT_TRUE(key);
    bool ended = false;
    ASSERT_TRUE(sys::PidfdSendSignal(holder.pidfd.get(), SIGKILL));
    ASSERT_TRUE(sys::WaitPidfd(holder.pidfd.get(), true, &ended));
    // The kernel collects keyrings of ended processes a little later.
    for (int attempt = 0; attempt < 200 && !UsedByKernel(span)->empty(); ++attempt) usleep(10'000);
  }
  EXPECT_TRUE(ranges.Release(lease.sandbox_id));
}

// Takes and gives leases, holding each for a moment under a name that only one may create.
int LeaseInTurns(const workspace::StateDir& state, const contain::SubIdFiles& files) {
  Result<IdRanges> ranges = IdRanges::Open(state, files);
  if (!ranges) return 10;
  for (int turn = 0; turn < 150; ++turn) {
    Result<IdLease> lease = ranges->Lease(NewId("sb_"));
    if (!lease) return 11;
    std::string held = "held_" + std::to_string(lease->outer_uid);
    if (!sys::Openat2(state.fd.get(), held, O_WRONLY | O_CREAT | O_EXCL, 0600)) return 12;
    if (turn % 8 == 0) usleep(500);
    if (!sys::Unlinkat(state.fd.get(), held)) return 13;
    if (!ranges->Release(lease->sandbox_id)) return 14;
  }
  return 0;
}

TEST_F(IdRangesTest, ConcurrentLeasesNeverCollide) {
  std::vector<sys::Child> children;
  for (int i = 0; i < 3; ++i) {
    sys::Child child = sys::Clone3(0).value();
    if (child.pid == 0) _exit(LeaseInTurns(state_, files_));
    children.push_back(std::move(child));
  }
  for (sys::Child& child : children) {
    bool ended = false;
    int status = sys::WaitPidfd(child.pidfd.get(), true, &ended).value().status;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
  }
  EXPECT_TRUE(Open().List()->empty());
}

TEST(IdSurvivorsTest, FindsTheCallersOwnProcessAndFiles) {
  contain::SubIds own = {{geteuid(), 1}, {getegid(), 1}};
  bool self = false;
  for (const UsedId& used : UsedByKernel(own).value()) {
    self |= used.by == "process " + std::to_string(getpid());
  }
  EXPECT_TRUE(self);
  std::string pattern = "/tmp/bawn_ids_XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  UniqueFd dir = sys::OpenDir(AT_FDCWD, pattern).value();
  ASSERT_TRUE(sys::MakeDirs(dir.get(), "a/b", 0700));
  EXPECT_EQ(UsedByFiles(own, dir.get(), 0, false)->size(), 2u) << "uid and gid of a";
  EXPECT_EQ(UsedByFiles(own, dir.get(), 1, false)->size(), 4u) << "and of a/b";
  contain::SubIds nobody = {{0xfffffff0, 1}, {0xfffffff0, 1}};
  EXPECT_TRUE(UsedByFiles(nobody, dir.get(), 2, true)->empty());
  Result<std::vector<UsedId>> too_deep = UsedByFiles(nobody, dir.get(), 1, true);
  ASSERT_FALSE(too_deep);
  EXPECT_THAT(too_deep.error().message, HasSubstr("a/b is nested too deep"));
  EXPECT_TRUE(RemoveAll(AT_FDCWD, pattern));
}

}  // namespace
}  // namespace bawn::launch
