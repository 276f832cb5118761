#include "contain/plan_codec.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <utility>

#include "sys/files.h"
#include "wire/control.h"

namespace bawn::contain {
namespace {

using plan::Op;
using plan::OpKind;

Op MakeOp(OpKind kind, std::string target) {
  Op op;
  op.kind = kind, op.target = std::move(target);
  return op;
}

// Every field differs from its default, so that a field left out of the codec shows.
plan::Plan FullPlan() {
  plan::Plan plan;
  plan.sandbox_id = "sb_x", plan.hostname = "tower", plan.level = plan::Level::kBounded;
  plan.uid = 1000, plan.gid = 1001, plan.ids_from_range = true, plan.job_domains = true;
  Op overlay = MakeOp(OpKind::kOverlay, "/work/\xff name");
  overlay.lowers = {{"/a", 1, 2, -1}, {"", 0, 0, 3}};
  overlay.upper = {"/up", 5, 6, -1}, overlay.work = {"", 0, 0, 4};
  Op bind = MakeOp(OpKind::kBind, "/dev/null");
  bind.lowers = {{"/dev/null", 7, 8, -1}};
  bind.read_only = false, bind.devices = true, bind.recursive = true, bind.optional = true;
  Op file = MakeOp(OpKind::kFile, "/etc/passwd");
  file.content = std::string("a\0b", 3);
  file.mode = 0640, file.size_bytes = 9, file.inodes = 10, file.mtime_ns = 11;
  plan.ops = {overlay, bind, file, MakeOp(OpKind::kMqueue, "/dev/mqueue")};
  plan.landlock = {{"/", plan::PathRights::kRead}, {"/dev/null", plan::PathRights::kDevice}};
  plan.syscall_profiles = {"browser"};
  plan.limits = {2, 3, 4, 5, 6, 7, 8, 9};
  plan.tree = {10, 11, 12};
  plan.canaries = {"/o", "/s", "abstract", 77};
  return plan;
}

plan::JobSpec FullSpec() {
  return {.argv = {"sh", "-c", ""},
          .env = {"A=b", "odd"},
          .cwd = "/work",
          .umask = 077,
          .pty = true,
          .pty_rows = 24,
          .pty_columns = 80};
}

TEST(PlanCodecTest, ChangesAreInOnePlace) {
  plan::Plan plan = FullPlan();
  plan.ops[0].upper = plan.ops[0].work = plan::Source();
  plan.ops[0].size_bytes = 1 << 20, plan.ops[0].content = ".git";
  EXPECT_TRUE(DecodePlan(EncodePlan(plan)));
  for (const char* hidden : {"/etc", "a/../b", ".", "a//b", "a/"}) {
    plan.ops[0].content = hidden;
    EXPECT_FALSE(DecodePlan(EncodePlan(plan))) << hidden;
  }
  plan.ops[0].size_bytes = 0, plan.ops[0].content = ".git";  // on disk nothing is hidden that way
  EXPECT_FALSE(DecodePlan(EncodePlan(plan)));
  plan = FullPlan();
  plan.ops[0].size_bytes = 1 << 20;  // two uppers
  EXPECT_FALSE(DecodePlan(EncodePlan(plan)));
}

// A seed of an older format would only ever show the fuzzer the first check.
// BAWN_ACCEPT_GOLDEN=1 writes it anew.
TEST(PlanCodecTest, TheFuzzersSeedsAreOfThisFormat) {
  for (const auto& [name, bytes] : {std::pair("plan/full", EncodePlan(FullPlan())),
                                    std::pair("job_spec/full", EncodeJobSpec(FullSpec()))}) {
    std::string path = std::string(BAWN_CORPUS_DIR "/") + name;
    if (getenv("BAWN_ACCEPT_GOLDEN") != nullptr) std::ofstream(path) << bytes;
    Result<std::string> seed = sys::ReadFileAt(AT_FDCWD, path, 1 << 20);
    ASSERT_TRUE(seed) << seed.error().message;
    EXPECT_TRUE(*seed == bytes) << name;
  }
}

TEST(PlanCodecTest, PlanRoundTrips) {
  std::string bytes = EncodePlan(FullPlan());
  Result<plan::Plan> back = DecodePlan(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(EncodePlan(*back), bytes);
  EXPECT_EQ(back->ops[0].lowers[1].fd_slot, 3);
  EXPECT_EQ(back->ops[0].upper.ino, 6u);
  EXPECT_EQ(back->ops[2].mtime_ns, 11);
  EXPECT_EQ(back->ops[2].content, std::string("a\0b", 3));
  EXPECT_EQ(back->limits.inotify_instances_max, 9u);
  EXPECT_EQ(back->tree.memory_bytes, 10u);
  EXPECT_EQ(back->tree.cpus_milli, 12u);
  EXPECT_EQ(back->canaries.host_pid, 77u);
  EXPECT_TRUE(back->job_domains && back->ids_from_range);
}

TEST(PlanCodecTest, JobSpecRoundTrips) {
  std::string bytes = EncodeJobSpec(FullSpec());
  Result<plan::JobSpec> back = DecodeJobSpec(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(EncodeJobSpec(*back), bytes);
  EXPECT_EQ(back->argv[2], "");
  EXPECT_EQ(back->pty_columns, 80);
}

TEST(PlanCodecTest, TruncationAtEveryByteAndATrailingByteAreRefused) {
  std::string plan = EncodePlan(FullPlan()), spec = EncodeJobSpec(FullSpec());
  for (size_t size = 0; size < plan.size(); ++size) EXPECT_FALSE(DecodePlan(plan.substr(0, size)));
  for (size_t size = 0; size < spec.size(); ++size) {
    EXPECT_FALSE(DecodeJobSpec(spec.substr(0, size)));
  }
  EXPECT_FALSE(DecodePlan(plan + '\0'));
  EXPECT_FALSE(DecodeJobSpec(spec + '\0'));
  EXPECT_FALSE(DecodePlan(spec));
  EXPECT_FALSE(DecodeJobSpec(plan));
}

TEST(PlanCodecTest, SizeLimitsHoldAtMaxAndMaxPlusOne) {
  plan::JobSpec spec = FullSpec();
  spec.argv[2].assign(wire::kJobSpecBytesMax - EncodeJobSpec(spec).size(), 'x');
  ASSERT_EQ(EncodeJobSpec(spec).size(), wire::kJobSpecBytesMax);
  EXPECT_TRUE(DecodeJobSpec(EncodeJobSpec(spec)));
  spec.argv[2] += 'x';
  EXPECT_EQ(DecodeJobSpec(EncodeJobSpec(spec)).error().code, ErrorCode::kResourceExhausted);

  plan::Plan plan = FullPlan();
  plan.ops[2].content.append(wire::kPlanBytesMax - EncodePlan(plan).size(), 'x');
  ASSERT_EQ(EncodePlan(plan).size(), wire::kPlanBytesMax);
  EXPECT_TRUE(DecodePlan(EncodePlan(plan)));
  plan.ops[2].content += 'x';
  EXPECT_EQ(DecodePlan(EncodePlan(plan)).error().code, ErrorCode::kResourceExhausted);
}

TEST(PlanCodecTest, ShapesThatThePlanPromisesAreChecked) {
  auto refused = [](auto change) {
    plan::Plan plan = FullPlan();
    change(plan);
    return !DecodePlan(EncodePlan(plan));
  };
  for (const char* path : {"", "work", "/a/../b", "/a/./b", "/a//b", "/a/", "/.."}) {
    EXPECT_TRUE(refused([&](plan::Plan& p) { p.ops[0].target = path; })) << path;
    EXPECT_TRUE(refused([&](plan::Plan& p) { p.ops[0].lowers[0].path = path; })) << path;
    EXPECT_TRUE(refused([&](plan::Plan& p) { p.landlock[0].path = path; })) << path;
  }
  EXPECT_TRUE(refused([](plan::Plan& p) { p.ops[0].target = std::string("/a\0b", 4); }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.uid = 0; }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.gid = 0; }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.ops[0].lowers[1].path = "/both"; }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.ops[0].lowers[1].fd_slot = -2; }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.ops[0].lowers.clear(); }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.ops[0].work = {}; }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.ops[1].lowers.clear(); }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.ops[1].upper.path = "/u"; }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.ops[2].mode = 010000; }));
  EXPECT_TRUE(refused([](plan::Plan& p) { p.hostname.assign(65, 'h'); }));
  EXPECT_FALSE(refused([](plan::Plan& p) { p.hostname.assign(64, 'h'); }));

  auto job_refused = [](auto change) {
    plan::JobSpec spec = FullSpec();
    change(spec);
    return !DecodeJobSpec(EncodeJobSpec(spec));
  };
  EXPECT_TRUE(job_refused([](plan::JobSpec& s) { s.argv.clear(); }));
  EXPECT_TRUE(job_refused([](plan::JobSpec& s) { s.argv[1] = std::string("a\0b", 3); }));
  EXPECT_TRUE(job_refused([](plan::JobSpec& s) { s.env[0] = std::string("A=\0", 3); }));
  EXPECT_TRUE(job_refused([](plan::JobSpec& s) { s.cwd = "relative"; }));
  EXPECT_TRUE(job_refused([](plan::JobSpec& s) { s.umask = 01000; }));
}

}  // namespace
}  // namespace bawn::contain
