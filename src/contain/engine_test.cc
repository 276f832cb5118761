// What a job meets inside, and what the build refuses.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "contain/engine_test_support.h"
#include "contain/plan_codec.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::contain {
namespace {

using plan::Op;
using plan::OpKind;

#define ASSERT_STARTED(enclosure) \
  if (Result<> started = (enclosure).Start(); !started) FAIL() << started.error().message

TEST(EngineTest, TrueRunsAndEveryLayerIsHeld) {
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  for (const wire::LayerFact& fact : enclosure.ready.layers) {
    EXPECT_EQ(fact.state, wire::LayerState::kHeld) << fact.name << ": " << fact.verified_by;
  }
  EXPECT_EQ(enclosure.ready.layers.size(), 6u);
  JobResult result = enclosure.Run(enclosure.Spec({"true"}));
  EXPECT_EQ(result.exit_code(), 0);
  ASSERT_TRUE(result.started) << (result.failed ? result.failed->stage + result.failed->text : "");
  EXPECT_GE(result.started->canaries.size(), 5u);
}

TEST(EngineTest, ExitCodesSignalsAndOutputComeBack) {
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  JobResult result = enclosure.Sh("echo out; echo err >&2; exit 7");
  EXPECT_EQ(result.exit_code(), 7);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(enclosure.Sh("kill -SEGV $$").signal(), SIGSEGV);
  EXPECT_EQ(enclosure.Sh("exit 255").exit_code(), 255);
  EXPECT_GT(enclosure.Sh("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").exited->cpu_us, 1000u);
}

TEST(EngineTest, AJobSeesExactlyWhatThePlanSays) {
  signal(SIGPIPE, SIG_IGN);  // as a careless starter leaves it (E-27)
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  EXPECT_EQ(enclosure.Payload({"fds"}).out, "0 1 2 \n");
  EXPECT_EQ(enclosure.Payload({"signals"}).exit_code(), 0);
  signal(SIGPIPE, SIG_DFL);
  std::string ids = std::to_string(enclosure.plan.uid) + ":" + std::to_string(enclosure.plan.gid);
  EXPECT_EQ(enclosure.Sh("echo $(id -u):$(id -g); pwd; hostname; umask").out,
            ids + "\n/work\nbawn\n0022\n");
  EXPECT_EQ(
      enclosure.Sh("cat /proc/self/uid_map | tr -s ' '").out,
      " " + std::to_string(enclosure.plan.uid) + " " + std::to_string(enclosure.plan.uid) + " 1\n");
  EXPECT_EQ(enclosure
                .Sh("grep -E '^(CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):' "
                    "/proc/self/status | tr '\\t\\n' '  '")
                .out,
            "CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 "
            "CapBnd: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 ");
  EXPECT_EQ(enclosure.Sh("ulimit -Sc; ulimit -Hc").out, "0\n0\n");  // 1 byte, shown in blocks
  EXPECT_EQ(enclosure.Sh("grep 'Max core' /proc/self/limits | tr -s ' '").out,
            "Max core file size 1 1 bytes \n");
  EXPECT_EQ(enclosure.Sh("set -- /proc/[0-9]*; echo $#").out, "2\n");  // pid 1 and sh
}

TEST(EngineTest, JobsAreChosenByTheOomKillerBeforeTheirPid1) {
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  std::string own = *sys::ReadFileAt(AT_FDCWD, "/proc/self/oom_score_adj", 16);
  std::string expected = std::to_string(std::min(ParseInt(own) + 200, 1000)) + "\n";
  EXPECT_EQ(enclosure.Sh("cat /proc/self/oom_score_adj").out, expected);
  EXPECT_EQ(enclosure.Sh("cat /proc/1/oom_score_adj").out, own);
}

TEST(EngineTest, ChangesLandInTheUpperAndTheHostStaysAsItWas) {
  Enclosure enclosure;
  enclosure.dir.Write("lower/file", "base\n");
  ASSERT_STARTED(enclosure);
  std::string name = enclosure.plan.sandbox_id;  // nobody else's
  JobResult result = enclosure.Sh(
      "cat file && echo changed > file && echo new > added && cat file added; for d in /usr/bin / "
      "/etc /tmp; do echo x > $d/" +
      name + "; done; cat /tmp/" + name);
  EXPECT_EQ(result.out, "base\nchanged\nnew\nx\n") << result.err;
  EXPECT_EQ(enclosure.dir.Read("lower/file"), "base\n");
  EXPECT_EQ(enclosure.dir.Read("upper/file"), "changed\n");
  EXPECT_EQ(enclosure.dir.Read("upper/added"), "new\n");
  for (const char* directory : {"/usr/bin/", "/", "/etc/", "/tmp/"}) {
    EXPECT_FALSE(sys::Fstatat(AT_FDCWD, directory + name)) << directory;
  }
}

TEST(EngineTest, ChangesCanBeHeldInMemory) {
  Enclosure enclosure;
  ASSERT_TRUE(sys::MakeDirs(AT_FDCWD, enclosure.dir.At("lower/.git"), 0755));
  UniqueFd secret = *sys::Openat2(AT_FDCWD, enclosure.dir.At("lower/.git/token"),
                                  O_WRONLY | O_CREAT | O_EXCL, 0644);
  auto work = std::ranges::find(enclosure.plan.ops, "/work", &Op::target);
  ASSERT_NE(work, enclosure.plan.ops.end());
  work->upper = work->work = plan::Source();
  work->size_bytes = 1 << 20, work->inodes = 100, work->mode = 0750, work->content = ".git";
  Op file;
  file.kind = OpKind::kFile, file.target = "/work/.git/HEAD", file.content = "ours\n";
  file.mode = 0644, file.mtime_ns = 1'000'000'000;
  enclosure.plan.ops.insert(work + 1, file);
  ASSERT_TRUE(enclosure.Start()) << enclosure.setup_failed->text;
  EXPECT_EQ(enclosure.Sh("ls -A .git; cat .git/HEAD; stat -c %Y .git/HEAD; stat -c %a .").out,
            "HEAD\nours\n1\n750\n");
  EXPECT_EQ(enclosure
                .Sh("i=$(stat -c %i file); echo x >>file; test $i = $(stat -c %i file) && "
                    "rm -r .git && mkdir .git && ls -A .git; echo made")
                .out,
            "made\n");
  // The size is a hard bound.
  JobResult full = enclosure.Sh("head -c 2000000 /dev/zero >big");
  EXPECT_NE(full.exit_code(), 0);
  EXPECT_NE(full.err.find("No space left"), std::string::npos) << full.err;
  EXPECT_FALSE(sys::Fstatat(AT_FDCWD, enclosure.dir.At("upper/file")));
}

std::string Children() {
  return sys::ReadFileAt(AT_FDCWD, "/proc/thread-self/children", 1 << 16).value_or("?");
}

// A pid 1 may wait for its Plan. In root mode none does: its ids come with the Plan.
TEST(EngineTest, Pid1StartedAheadIsTakenOrEnded) {
  Enclosure enclosure;
  std::string before = Children();
  enclosure.Prestart();
  std::string waiting = Children();
  EXPECT_EQ(waiting == before, IsRoot());
  ASSERT_STARTED(enclosure);
  if (!IsRoot()) EXPECT_EQ(Children(), waiting);
  EXPECT_EQ(enclosure.Sh("echo $PPID").exit_code(), 0);
  ASSERT_TRUE(enclosure.engine().Destroy(&enclosure.sandbox(), 5000));
  enclosure.Prestart();
  {
    NativeEngine unused(*sys::Openat2(AT_FDCWD, Enclosure::ProgramPath("bawn-init"), O_RDONLY));
    UniqueFd nothing = *sys::Memfd("plan");
    unused.Prestart(nothing.get());
  }
  // That one was ended and reaped; this one waits, and ends with the level it was not started for.
  EXPECT_EQ(Children() == before, IsRoot());
  if (IsRoot()) return;
  enclosure.plan.level = plan::Level::kRestricted;
  ASSERT_TRUE(enclosure.Provision());
  EXPECT_TRUE(enclosure.Next(10000).has_value());
}

TEST(EngineTest, ASpecTakesWhateverExecTakes) {
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  plan::JobSpec spec = enclosure.Spec({"/bin/sh", "-c", "echo $#", "sh"});
  for (int i = 0; i < 15; ++i) spec.argv.push_back(std::string(100 << 10, 'x'));
  spec.env.push_back("ODD=\xff\x01 bytes");
  JobResult result = enclosure.Run(spec);
  EXPECT_EQ(result.out, "15\n");
  spec.argv.push_back(std::string(200 << 10, 'x'));  // one argument over the kernel's own limit
  result = enclosure.Run(spec);
  ASSERT_TRUE(result.failed);
  EXPECT_EQ(result.failed->stage, "exec");
  EXPECT_EQ(result.failed->sys_errno, static_cast<uint32_t>(E2BIG));
}

TEST(EngineTest, FailedExecsSayWhatIsMissing) {
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  ASSERT_EQ(enclosure
                .Sh("printf '#!/no/such/interpreter -x\\n' > script; printf 'echo bare $1\\n' > "
                    "bare; echo > plain; chmod +x script bare")
                .exit_code(),
            0);
  auto failure = [&](const std::string& program) {
    JobResult result = enclosure.Run(enclosure.Spec({program}));
    EXPECT_FALSE(result.exited);
    EXPECT_FALSE(result.started);
    return result.failed.value_or(wire::JobFailed{});
  };
  wire::JobFailed absent = failure("no-such-program");
  EXPECT_EQ(absent.sys_errno, static_cast<uint32_t>(ENOENT));
  EXPECT_NE(absent.text.find("no-such-program: not found in the view"), std::string::npos);
  wire::JobFailed script = failure("./script");
  EXPECT_EQ(script.sys_errno, static_cast<uint32_t>(ENOENT));
  EXPECT_NE(script.text.find("interpreter /no/such/interpreter is not in the view"),
            std::string::npos);
  EXPECT_EQ(failure("./plain").sys_errno, static_cast<uint32_t>(EACCES));
  EXPECT_EQ(failure("/work").sys_errno, static_cast<uint32_t>(EACCES));
  EXPECT_EQ(enclosure.Run(enclosure.Spec({"./bare", "arg"})).out, "bare arg\n");
  plan::JobSpec elsewhere = enclosure.Spec({"true"});
  elsewhere.env = {"PATH=/nowhere"};
  EXPECT_EQ(enclosure.Run(elsewhere).failed->sys_errno, static_cast<uint32_t>(ENOENT));
  plan::JobSpec lost = enclosure.Spec({"true"});
  lost.cwd = "/nowhere";
  EXPECT_EQ(enclosure.Run(lost).failed->stage, "cwd");
}

TEST(EngineTest, ASwappedSourceIsRefused) {
  for (bool swapped : {false, true}) {
    Enclosure enclosure;
    Result<sys::FileStat> stat = sys::Fstatat(AT_FDCWD, enclosure.dir.At("lower"));
    ASSERT_TRUE(stat);
    for (Op& op : enclosure.plan.ops) {
      if (op.kind != OpKind::kOverlay) continue;
      op.lowers[0].dev = stat->dev;
      op.lowers[0].ino = stat->ino + (swapped ? 1 : 0);
    }
    Result<> started = enclosure.Start();
    EXPECT_EQ(started.has_value(), !swapped);
    if (!swapped) continue;
    ASSERT_TRUE(enclosure.setup_failed);
    EXPECT_EQ(enclosure.setup_failed->stage, "op /work");
    EXPECT_NE(enclosure.setup_failed->text.find("the tree was swapped"), std::string::npos);
    EXPECT_TRUE(enclosure.Gone(2000));
  }
}

TEST(EngineTest, ASourceBehindASymlinkIsRefused) {
  Enclosure enclosure;
  ASSERT_TRUE(sys::Symlinkat("lower", AT_FDCWD, enclosure.dir.At("link")));
  enclosure.plan.ops.push_back(BindOp(enclosure.dir.At("link"), "/linked"));
  EXPECT_FALSE(enclosure.Start());
  ASSERT_TRUE(enclosure.setup_failed);
  EXPECT_EQ(enclosure.setup_failed->sys_errno, static_cast<uint32_t>(ELOOP));
}

TEST(EngineTest, ATargetIsNeverReachedThroughASymlinkOfAnEarlierMount) {
  for (const char* target : {"/work/link/x", "/work/link/x/y", "/work/up/x", "/work/up/x/y"}) {
    Enclosure enclosure;
    ASSERT_TRUE(sys::Mkdirat(AT_FDCWD, enclosure.dir.At("outside_dir"), 0777));
    ASSERT_TRUE(
        sys::Symlinkat(enclosure.dir.At("outside_dir"), AT_FDCWD, enclosure.dir.At("lower/link")));
    ASSERT_TRUE(sys::Symlinkat("..", AT_FDCWD, enclosure.dir.At("lower/up")));
    enclosure.plan.ops.push_back(MakeOp(OpKind::kDir, target));
    EXPECT_FALSE(enclosure.Start());
    ASSERT_TRUE(enclosure.setup_failed);
    uint32_t error = enclosure.setup_failed->sys_errno;  // the last component: ENOTDIR
    EXPECT_TRUE(error == ELOOP || error == ENOTDIR) << enclosure.setup_failed->text;
    EXPECT_FALSE(sys::Fstatat(AT_FDCWD, enclosure.dir.At("outside_dir/x")));
  }
}

TEST(EngineTest, OptionalOpsAreReportedOthersFail) {
  Enclosure enclosure;
  Op missing = BindOp("/no/such/source", "/missing");
  missing.optional = true;
  enclosure.plan.ops.push_back(missing);
  ASSERT_STARTED(enclosure);
  const wire::LayerFact& fact = enclosure.ready.layers.back();
  EXPECT_EQ(fact.name, "mount /missing");
  EXPECT_EQ(fact.state, wire::LayerState::kOff);

  Enclosure strict;
  missing.optional = false;
  strict.plan.ops.push_back(missing);
  EXPECT_FALSE(strict.Start());
  EXPECT_EQ(strict.setup_failed->stage, "op /missing");
}

TEST(EngineTest, FilesDirectoriesAndModesAreAsThePlanSays) {
  Enclosure enclosure;
  Op secret = MakeOp(OpKind::kFile, "/etc/deep/secret");
  secret.content = "content\n", secret.mode = 0640;
  Op open = MakeOp(OpKind::kDir, "/srv/open");
  open.mode = 0711;
  enclosure.plan.ops.insert(enclosure.plan.ops.end(), {secret, open});
  ASSERT_STARTED(enclosure);
  EXPECT_EQ(enclosure.Sh("cat /etc/deep/secret; stat -c %a /etc/deep/secret /srv/open /tmp").out,
            "content\n640\n711\n1777\n");
}

TEST(EngineTest, HostRootIsNeverAPayload) {
  Enclosure enclosure;
  ProvisionRequest request;
  request.plan = *sys::SealedMemfd("plan", EncodePlan(enclosure.plan));
  request.ids = ProvisionRequest::IdRange{0, kOuterId, 1};
  EXPECT_EQ(enclosure.engine().Provision(std::move(request)).error().code,
            ErrorCode::kInvalidArgument);
  if (!IsRoot()) return;  // the other half is about a caller that is root
  ProvisionRequest bare;
  bare.plan = *sys::SealedMemfd("plan", EncodePlan(enclosure.plan));
  Result<Sandbox> refused = enclosure.engine().Provision(std::move(bare));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().rule, "engine.no_host_root");
}

TEST(EngineTest, QueryNamesTheHighestLevelThatWasProven) {
  Enclosure enclosure;
  Result<Capabilities> capabilities = enclosure.engine().Query();
  ASSERT_TRUE(capabilities);
  EXPECT_EQ(capabilities->name, "native");
  // As root the machine's subuid entry decides; the level is the probe's, never a guess.
  if (!IsRoot()) EXPECT_GE(capabilities->highest, plan::Level::kIsolated);
}

TEST(EngineTest, BrokenInputEndsEverything) {
  Enclosure enclosure;
  ASSERT_STARTED(enclosure);
  ASSERT_TRUE(sys::SendPacket(enclosure.sandbox().control.get(), "\xff garbage"));
  EXPECT_TRUE(enclosure.Gone(2000));

  Enclosure lost;
  lost.plan.level = plan::Level::kGuest;
  EXPECT_FALSE(lost.Start());
  EXPECT_EQ(lost.setup_failed->stage, "level");
}

}  // namespace
}  // namespace bawn::contain
