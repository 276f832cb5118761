#include <gtest/gtest.h>

#include <cstdlib>
#include <tuple>

#include "base/text.h"
#include "record/receipts.h"
#include "sys/files.h"

namespace bawn::record {
namespace {

plan::Receipt FullReceipt() {
  plan::Receipt r;
  r.sandbox_id = "sb_aaaaaaaaaaaaaaaaaaaaaaaaaa";
  r.sandbox_name = "brave-otter-k3f";
  r.job_id = "job_bbbbbbbbbbbbbbbbbbbbbbbbbb";
  r.command = {"make", "a\\b", "\xff\n", "größe"};
  r.started_at_ns = 1'000'000'000'123'000'000;
  r.ended_at_ns = 1'000'000'001'456'000'000;
  r.outcome = {.kind = plan::OutcomeKind::kKilled,
               .killed_by = plan::KilledBy::kTimeout,
               .hint = "ran for 10 s",
               .caused_by_job = "job_cccccccccccccccccccccccccc"};
  r.obtained = plan::Level::kIsolated;
  r.downgrade_reason = "no delegated cgroup";
  r.layers = {{"userns", "held", "canary"}, {"cgroup", "off", ""}};
  r.limits = {{"time", 10'000, "enforced"}, {"disk", 1 << 20, "approximate"}};
  r.cpu_ms = 12;
  r.workspace = {.mode = "live",
                 .rung = "overlay",
                 .path = "/home/u/\xfe",
                 .base_commit = "0123456789abcdef0123456789abcdef01234567",
                 .added = 1,
                 .modified = 2,
                 .deleted = 0,
                 .bytes = 300,
                 .durable = "pending",
                 .covered = {".env"}};
  r.direct_writes = {"/srv/out"};
  r.out = {.bytes_total = 5, .sha256 = std::string(64, 'a'), .truncated = true};
  r.policy_digest = std::string(64, 'b');
  r.policy_sources = {"built-in"};
  r.remaining = {"pid 12"};
  r.unmeasured = {{"usage.pids_peak", "no cgroup"}};
  return r;
}

// The value at "a.b.c"; null pointer when a member is absent.
const Json* At(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (at != nullptr && !path.empty()) {
    size_t dot = path.find('.');
    at = at->Get(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return at;
}

// BAWN_ACCEPT_GOLDEN=1 writes the file anew.
TEST(ReceiptJsonTest, IsTheAcceptedShape) {
  std::string path = std::string(BAWN_GOLDEN_DIR) + "/receipt.json";
  std::string text = ToJsonText(ToJson(FullReceipt()), 2) + "\n";
  if (getenv("BAWN_ACCEPT_GOLDEN") != nullptr) {
    size_t slash = path.rfind('/');
    UniqueFd dir = *sys::OpenDir(AT_FDCWD, path.substr(0, slash));
    ASSERT_TRUE(sys::WriteFileAtomic(dir.get(), path.substr(slash + 1), text, 0644, false));
  }
  Result<std::string> golden = sys::ReadFileAt(AT_FDCWD, path, kReceiptBytesMax);
  ASSERT_TRUE(golden) << golden.error().message;
  EXPECT_EQ(text, *golden);
}

TEST(ReceiptJsonTest, TopLevelMembersAreExactlyThoseOfTheDesign) {
  std::vector<std::string> keys;
  Json json = ToJson(plan::Receipt());
  for (const JsonMember& member : *json.AsObject()) keys.push_back(member.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"receipt_version",
                                            "platform",
                                            "placement",
                                            "device_id",
                                            "deployment",
                                            "sandbox_id",
                                            "job_id",
                                            "context",
                                            "command",
                                            "started_at",
                                            "ended_at",
                                            "sandbox",
                                            "sandbox_downgrade_reason",
                                            "outcome",
                                            "containment",
                                            "limits",
                                            "usage",
                                            "workspace",
                                            "direct_writes",
                                            "egress",
                                            "output",
                                            "policy",
                                            "remaining",
                                            "unmeasured"}));
}

TEST(ReceiptJsonTest, EveryNullMeasurementHasItsReasonAndEveryReasonANull) {
  for (const plan::Receipt& receipt : {plan::Receipt(), FullReceipt()}) {
    Json json = ToJson(receipt);
    for (std::string_view path :
         {"usage.cpu_ms", "usage.memory_peak_bytes", "usage.pids_peak", "workspace.added",
          "workspace.modified", "workspace.deleted", "workspace.bytes", "egress.allowed",
          "egress.denied", "output.stdout.sha256", "output.stdout.artifact_id",
          "output.stderr.sha256", "output.stderr.artifact_id", "device_id"}) {
      ASSERT_NE(At(json, path), nullptr) << path;
      const Json* reason = json.Get("unmeasured")->Get(path);
      EXPECT_EQ(At(json, path)->is_null(), reason != nullptr) << path;
      if (reason != nullptr) EXPECT_FALSE(reason->AsString()->empty()) << path;
    }
  }
  Json full = ToJson(FullReceipt());
  EXPECT_EQ(full.Get("unmeasured")->GetString("usage.pids_peak"), "no cgroup");
}

TEST(ReceiptJsonTest, ArgumentsComeBackByteExact) {
  Json json = ToJson(FullReceipt());
  const JsonArray& command = *json.Get("command")->AsArray();
  ASSERT_EQ(command.size(), 4U);
  for (size_t i = 0; i < command.size(); ++i) {
    EXPECT_EQ(*UnescapeName(*command[i].AsString()), FullReceipt().command[i]);
  }
  EXPECT_EQ(*command[2].AsString(), "\\xff\\x0a");
}

TEST(ReceiptJsonTest, EachOutcomeShowsOnlyItsOwnNumber) {
  plan::Receipt receipt;
  receipt.outcome.exit_code = 3;
  receipt.outcome.signal = 9;
  receipt.outcome.kind = plan::OutcomeKind::kExited;
  Json exited = ToJson(receipt);
  EXPECT_EQ(exited.Get("outcome")->GetInt("exit_code"), 3);
  EXPECT_TRUE(At(exited, "outcome.signal")->is_null());
  EXPECT_TRUE(At(exited, "outcome.killed_by")->is_null());
  receipt.outcome.kind = plan::OutcomeKind::kSignaled;
  Json signaled = ToJson(receipt);
  EXPECT_EQ(signaled.Get("outcome")->GetInt("signal"), 9);
  EXPECT_TRUE(At(signaled, "outcome.exit_code")->is_null());
  receipt.outcome.kind = plan::OutcomeKind::kKilled;
  receipt.outcome.killed_by = plan::KilledBy::kOutput;
  EXPECT_EQ(ToJson(receipt).Get("outcome")->GetString("killed_by"), "output");
}

TEST(ReceiptJsonTest, NoneSaysThatTheNetworkWasOpen) {
  plan::Receipt receipt;
  receipt.outcome.kind = plan::OutcomeKind::kExited;
  receipt.obtained = plan::Level::kNone;
  EXPECT_TRUE(At(ToJson(receipt), "egress.allowed")->is_null());
  receipt.outcome.kind = plan::OutcomeKind::kSetupFailed;
  EXPECT_EQ(ToJson(receipt).Get("egress")->GetInt("allowed", -1), 0);
  receipt.outcome.kind = plan::OutcomeKind::kExited;
  receipt.obtained = plan::Level::kIsolated;
  EXPECT_EQ(ToJson(receipt).Get("egress")->GetInt("allowed", -1), 0);
}

TEST(ReceiptJsonTest, ProseThatIsNoUtf8IsStillText) {
  plan::Receipt receipt;
  receipt.outcome.hint = "no such file: \xff";
  EXPECT_EQ(ToJson(receipt).Get("outcome")->GetString("hint"), "no such file: \\xff");
}

}  // namespace
}  // namespace bawn::record
