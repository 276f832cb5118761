// Attacks from inside against the view and against pid 1, each with its positive control.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/sha256.h"
#include "contain/engine_test_support.h"
#include "sys/files.h"
#include "sys/identity.h"
#include "sys/mounts.h"

namespace bawn::contain {
namespace {

using plan::Op;
using plan::OpKind;

#define ASSERT_STARTED(enclosure) \
  if (Result<> started = (enclosure).Start(); !started) FAIL() << started.error().message

// A socket and a FIFO of a host process, as they lie about in real trees.
struct Doors {
  explicit Doors(const HostDir& dir) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string path = dir.At("lower/s");
    std::memcpy(address.sun_path, path.data(), path.size());
    socket.Reset(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(socket.get(), 8), 0);
    EXPECT_EQ(chmod(path.c_str(), 0777), 0);
    EXPECT_EQ(mkfifo(dir.At("lower/f").c_str(), 0777), 0);
    EXPECT_EQ(chmod(dir.At("lower/f").c_str(), 0777), 0);
    fifo.Reset(open(dir.At("lower/f").c_str(), O_RDONLY | O_NONBLOCK));
  }
  UniqueFd socket, fifo;
};

// RT-05. The control shows that the doors are open where a bind shows them.
TEST(EngineWallsTest, SocketsAndFifosOfALowerAreNoDoorsOut) {
  Enclosure enclosure;
  Doors doors(enclosure.dir);
  Op read_only = MakeOp(OpKind::kOverlay, "/lower_only");
  read_only.lowers = {{enclosure.dir.At("lower"), 0, 0, -1}};
  Op bind = BindOp(enclosure.dir.At("lower"), "/bound");
  enclosure.plan.ops.insert(enclosure.plan.ops.end(), {read_only, bind});
  enclosure.plan.landlock.push_back({"/bound", plan::PathRights::kWrite});
  enclosure.plan.landlock.push_back({"/lower_only", plan::PathRights::kWrite});
  ASSERT_STARTED(enclosure);
  EXPECT_EQ(enclosure.Payload({"connect", "/bound/s"}).exit_code(), 0);
  EXPECT_EQ(enclosure.Payload({"fifo", "/bound/f"}).exit_code(), 0);
  for (const std::string top : {"/work", "/lower_only"}) {
    EXPECT_EQ(enclosure.Payload({"connect", top + "/s"}).exit_code(), ECONNREFUSED) << top;
    EXPECT_EQ(enclosure.Payload({"fifo", top + "/f"}).exit_code(), ENXIO) << top;
  }
  EXPECT_EQ(enclosure.Sh("ls /lower_only; echo x > /lower_only/new").out, "f\ns\n");
  EXPECT_FALSE(sys::Fstatat(AT_FDCWD, enclosure.dir.At("lower/new")));
}

// RT-01, RT-22: nothing of pid 1, nor of the guard ($PPID of a job with a domain of its own), can
// be opened; the control is the payload's own process.
TEST(EngineWallsTest, Pid1AndTheGuardCannotBeLookedInto) {
  for (bool domains : {false, true}) {
    Enclosure enclosure;
    enclosure.plan.job_domains = domains;
    ASSERT_STARTED(enclosure);
    EXPECT_EQ(enclosure.Sh("cd /proc/self; /payload read environ mem maps; /payload write mem").out,
              "environ OPENED\nmem OPENED\nmaps OPENED\nmem OPENED\n");
    EXPECT_EQ(enclosure.Sh("echo $PPID").out == "1\n", !domains);
    for (const char* pid : {"1", "$PPID"}) {
      std::string cd = std::string("p=/proc/") + pid + "; ";
      JobResult result = enclosure.Sh(cd +
                                      "/payload read $p/mem $p/exe $p/root $p/cwd $p/environ "
                                      "$p/fd $p/fd/3 $p/maps $p/auxv $p/ns/user");
      EXPECT_EQ(result.exit_code(), 0) << result.out;
      result = enclosure.Sh(cd + "/payload write $p/mem $p/exe $p/oom_score_adj $p/comm");
      EXPECT_EQ(result.exit_code(), 0) << result.out;
      // Landlock's signal scope: neither even gets them as pending.
      EXPECT_EQ(enclosure.Sh("exec /payload kill $PPID 15").exit_code(), EPERM);
      EXPECT_EQ(enclosure.Sh("exec /payload kill 1 9").exit_code(), EPERM);
    }
    EXPECT_EQ(enclosure.Sh("echo alive").out, "alive\n");
  }
}

// CVE-2019-5736: a payload waits for a program of the host to appear in its /proc and opens it for
// writing. The program is writable by the payload's own user here; the control is that the scan
// does open what it may (its own program, for reading).
TEST(EngineWallsTest, NoHostProgramCanBeWrittenWhileJobsStart) {
  Enclosure enclosure(true);
  std::string before =
      Sha256Hex(*sys::ReadFileAt(AT_FDCWD, enclosure.dir.At("bawn-init"), 64 << 20));
  ASSERT_STARTED(enclosure);
  LiveJob scan = enclosure.Launch(enclosure.Spec({"/payload", "scan", "/work/stop"}));
  for (int i = 0; i < 300; ++i) {
    LiveJob job = enclosure.Launch(enclosure.Spec({"/payload", "fds"}));
    while (true) {
      std::optional<wire::FromInit> frame = enclosure.Next(10000);
      ASSERT_TRUE(frame);
      auto* exited = std::get_if<wire::JobExited>(&*frame);
      if (exited != nullptr && exited->job == job.id) break;
    }
  }
  EXPECT_EQ(enclosure.Sh("echo > /work/stop").exit_code(), 0);
  int rounds = 0, readable = 0, writable = 0;
  std::string seen = ReadToEnd(scan.out.get(), 10000);
  ASSERT_EQ(std::sscanf(seen.c_str(), "%d %d %d", &rounds, &readable, &writable), 3) << seen;
  EXPECT_GE(rounds, 2);
  EXPECT_GE(readable, rounds);
  EXPECT_EQ(writable, 0);
  ASSERT_TRUE(enclosure.engine().Destroy(&enclosure.sandbox(), 5000));
  EXPECT_EQ(Sha256Hex(*sys::ReadFileAt(AT_FDCWD, enclosure.dir.At("bawn-init"), 64 << 20)), before);
}

// RT-36, as in a container: something covers a part of /proc, so the kernel refuses a fresh one.
// The layers say so, the outer /proc is not shown instead, and no job runs. Exit codes of the child
// name the check.
int BehindAMaskedProc() {
  uid_t uid = getuid();
  gid_t gid = getgid();
  if (unshare(CLONE_NEWNS | (uid == 0 ? 0 : CLONE_NEWUSER)) < 0) return 1;
  UniqueFd proc = *sys::Openat2(AT_FDCWD, "/proc", O_PATH);
  if (uid != 0 && !sys::WriteOwnIdentityMap(proc.get(), uid, gid)) return 2;
  if (!sys::MakeTreePrivate()) return 3;
  Result<sys::FsBuilder> tmpfs = sys::FsBuilder::Open("tmpfs");
  if (!tmpfs) return 4;
  Result<UniqueFd> mask = tmpfs->Mount(0);
  if (!mask || !sys::MoveMount(mask->get(), AT_FDCWD, "/proc/sys")) return 4;
  Enclosure enclosure;
  if (!enclosure.Start()) return 5;
  int failed = 0;
  for (const wire::LayerFact& fact : enclosure.ready.layers) {
    bool expected = fact.name == "pidns" || fact.name == "lids";
    if ((fact.state == wire::LayerState::kFailed) != expected) return 6;
    failed += expected ? 1 : 0;
  }
  if (failed != 2) return 7;
  JobResult refused = enclosure.Sh("true");
  return refused.failed && refused.failed->stage == "layer" && !refused.started ? 0 : 8;
}

TEST(EngineWallsTest, AMaskedProcIsAFailedLayerAndNoFallback) {
  pid_t child = fork();
  if (child == 0) _exit(BehindAMaskedProc());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(EngineWallsTest, TheLidsAreOnAndSysctlsAreReadOnly) {
  Enclosure enclosure;
  enclosure.plan.limits.inotify_watches_max = 777;
  ASSERT_STARTED(enclosure);
  EXPECT_EQ(enclosure
                .Sh("cd /proc/sys/user; cat max_user_namespaces max_mnt_namespaces "
                    "max_net_namespaces max_time_namespaces max_inotify_watches")
                .out,
            "0\n0\n0\n0\n777\n");
  JobResult result = enclosure.Payload({"write", "/proc/sys/user/max_user_namespaces",
                                        "/proc/sys/kernel/shmmax", "/proc/sys/fs/mqueue/msg_max",
                                        "/proc/sys/net/ipv4/ip_unprivileged_port_start"});
  EXPECT_EQ(result.exit_code(), 0) << result.out;
  EXPECT_EQ(enclosure.Sh("grep ' /proc/sys ' /proc/self/mounts | cut -d' ' -f4 | cut -d, -f1").out,
            "ro\n");
  EXPECT_EQ(enclosure.Sh("unshare -U true").exit_code(), 1);
}

TEST(EngineWallsTest, BrowserOpensNestedNamespacesByNumberOnly) {
  Enclosure enclosure;
  enclosure.plan.limits.user_namespaces_max = 16;
  enclosure.plan.syscall_profiles = {"browser"};
  ASSERT_STARTED(enclosure);
  EXPECT_EQ(enclosure
                .Sh("cd /proc/sys/user; cat max_user_namespaces max_pid_namespaces "
                    "max_net_namespaces max_mnt_namespaces")
                .out,
            "16\n16\n16\n0\n");
  EXPECT_EQ(enclosure.Sh("unshare -U true").exit_code(), 0);
  EXPECT_NE(enclosure.Sh("unshare -Um true").exit_code(), 0);
}

TEST(EngineWallsTest, TheNetworkIsLoopbackAndNothingElse) {
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  EXPECT_EQ(enclosure.Sh("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").out, "lo\n");
  EXPECT_EQ(enclosure.Sh("cat /proc/net/route | wc -l").out, "1\n");  // its heading
}

TEST(EngineWallsTest, TheOldRootIsGone) {
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  EXPECT_EQ(enclosure.Sh("ls -a / | tr '\\n' ' '").out.find("home"), std::string::npos);
  std::string outside = enclosure.dir.At("outside");
  EXPECT_EQ(enclosure.Payload({"read", outside, "/.." + outside, "/proc/1/root" + outside}).out,
            outside + " No such file or directory\n/.." + outside +
                " No such file or directory\n/proc/1/root" + outside + " Permission denied\n");
  EXPECT_EQ(enclosure.dir.Read("outside"), "host\n");
}

// A canary that gets through stops the job before exec: the wall "view" is off here.
TEST(EngineWallsTest, ACanaryThatGetsThroughStopsTheJob) {
  Enclosure enclosure;
  Op host = BindOp(enclosure.dir.path(), enclosure.dir.path());
  host.read_only = false;
  enclosure.plan.ops.push_back(host);
  enclosure.plan.landlock.push_back({enclosure.dir.path(), plan::PathRights::kWrite});
  if (IsRoot()) ASSERT_EQ(chown(enclosure.dir.At("outside").c_str(), kOuterId, kOuterId), 0);
  ASSERT_STARTED(enclosure);
  JobResult result = enclosure.Run(enclosure.Spec({"true"}));
  ASSERT_TRUE(result.failed);
  EXPECT_EQ(result.failed->stage, "canary");
  EXPECT_NE(result.failed->text.find("canary:write_outside"), std::string::npos)
      << result.failed->text;
  EXPECT_FALSE(result.started);
}

}  // namespace
}  // namespace bawn::contain
