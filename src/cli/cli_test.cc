#include "cli/cli.h"

#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "base/text.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/test_support.h"
#include "sys/sockets.h"

namespace bawn::cli {
namespace {

using service::RunOptions;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Words = std::vector<std::string>;

struct RunCase {
  Words options;
  std::function<bool(const RunOptions&)> holds;
};

const std::vector<RunCase>& RunCases() {
  static const std::vector<RunCase> cases = {
      {{"--workspace", "/w"}, [](const RunOptions& o) { return o.workspace == "/w"; }},
      {{"--ephemeral"}, [](const RunOptions& o) { return o.ephemeral && !o.keep; }},
      {{"--keep"}, [](const RunOptions& o) { return o.keep && !o.keep_for_ms; }},
      {{"--keep-for", "30m"},
       [](const RunOptions& o) { return o.keep && o.keep_for_ms == 1'800'000; }},
      {{"--in", "@last"}, [](const RunOptions& o) { return o.in_sandbox == "@last"; }},
      {{"--name", "fix-1"}, [](const RunOptions& o) { return o.name == "fix-1"; }},
      {{"--level", "bounded"},
       [](const RunOptions& o) { return o.level == plan::Level::kBounded; }},
      {{"--profile", "debug"}, [](const RunOptions& o) { return o.profile == "debug"; }},
      {{"--ro", "/a", "--ro", "b"}, [](const RunOptions& o) { return o.ro == Words{"/a", "b"}; }},
      {{"--rw", "/a"}, [](const RunOptions& o) { return o.rw == Words{"/a"}; }},
      {{"--hide", "/a"}, [](const RunOptions& o) { return o.hide == Words{"/a"}; }},
      {{"--show", ".env"}, [](const RunOptions& o) { return o.show == Words{".env"}; }},
      {{"--env", "A=b c"}, [](const RunOptions& o) { return o.env == Words{"A=b c"}; }},
      {{"--pass-env", "LANG"}, [](const RunOptions& o) { return o.pass_env == Words{"LANG"}; }},
      {{"--secret", "TOKEN"}, [](const RunOptions& o) { return o.secrets == Words{"TOKEN"}; }},
      {{"--memory", "512M"},
       [](const RunOptions& o) { return o.limits.memory_bytes == 512U << 20; }},
      {{"--cpu", "1.5"}, [](const RunOptions& o) { return o.limits.cpus_milli == 1500; }},
      {{"--pids", "200"}, [](const RunOptions& o) { return o.limits.pids == 200; }},
      {{"--disk", "1GiB"}, [](const RunOptions& o) { return o.limits.disk_bytes == 1U << 30; }},
      {{"--inodes", "7"}, [](const RunOptions& o) { return o.limits.inodes == 7; }},
      {{"--output", "1K"}, [](const RunOptions& o) { return o.limits.output_bytes == 1024; }},
      {{"--timeout", "90s"}, [](const RunOptions& o) { return o.limits.time_ms == 90'000; }},
      {{"--idle-timeout", "2m"}, [](const RunOptions& o) { return o.limits.idle_ms == 120'000; }},
      {{"--best-effort", "memory,cpu", "--best-effort", "pids"},
       [](const RunOptions& o) { return o.limits.best_effort == Words{"memory", "cpu", "pids"}; }},
      {{"--receipt", "r.json"}, [](const RunOptions& o) { return o.receipt_file == "r.json"; }},
      {{"--status-fd", "2"}, [](const RunOptions& o) { return o.status_fd == 2; }},
      {{"--quiet"}, [](const RunOptions& o) { return o.quiet; }},
      {{"--no-log"}, [](const RunOptions& o) { return o.no_log; }},
      {{"--tty"}, [](const RunOptions& o) { return o.tty == true; }},
      {{"--no-tty"}, [](const RunOptions& o) { return o.tty == false; }},
  };
  return cases;
}

TEST_F(CliTest, EveryOptionOfRunReachesTheService) {
  std::set<std::string> covered = {"--help"};
  for (const RunCase& one : RunCases()) {
    Words words = {"run"};
    words.insert(words.end(), one.options.begin(), one.options.end());
    words.insert(words.end(), {"--", "make", "--level", "x"});
    EXPECT_EQ(Bawn(words), 125) << Err();
    ASSERT_TRUE(fake_.run) << one.options[0] << Err();
    EXPECT_TRUE(one.holds(*fake_.run)) << one.options[0];
    EXPECT_EQ(fake_.run->argv, (Words{"make", "--level", "x"}));
    fake_.run.reset();
    covered.insert(one.options[0]);
  }
  for (const OptionRow& row : Options()) {
    if ((row.verbs & Bit(Verb::kRun)) != 0) {
      EXPECT_TRUE(covered.contains("--" + std::string(row.name))) << row.name;
    }
  }
}

TEST_F(CliTest, WithoutOptionsNothingIsAsked) {
  fake_.run_result.exit_code = 3;
  EXPECT_EQ(Bawn({"run", "true"}), 3);
  EXPECT_EQ(fake_.run->argv, Words{"true"});
  EXPECT_FALSE(fake_.run->level || fake_.run->tty || fake_.run->limits.pids || fake_.run->keep);
  EXPECT_EQ(Out() + Err(), "");
  EXPECT_EQ(Bawn({"shell"}), 3);
  EXPECT_TRUE(fake_.run->argv.empty());
}

TEST_F(CliTest, RunGivesTheJobsCodeAndSaysWhatChanged) {
  fake_.run_result.exit_code = 7;
  fake_.run_result.receipt.sandbox_name = "brave-otter-k3f";
  fake_.run_result.receipt.workspace.added = 1;
  fake_.run_result.receipt.workspace.modified = 2;
  fake_.run_result.receipt.workspace.deleted = 0;
  EXPECT_EQ(Bawn({"run", "make"}), 7);
  EXPECT_EQ(Err(), "bawn: 3 files changed in brave-otter-k3f; review: bawn diff\n");
  EXPECT_EQ(Out(), "");
}

TEST_F(CliTest, AnotherSandboxIsReviewedByItsName) {
  fake_.run_result.exit_code = 0;
  fake_.run_result.receipt.sandbox_name = "brave-otter-k3f";
  fake_.run_result.pending_changes = 1;
  EXPECT_EQ(Bawn({"run", "--in", "brave-otter-k3f", "make"}), 0);
  EXPECT_EQ(Err(), "bawn: 1 file changed in brave-otter-k3f; review: bawn diff brave-otter-k3f\n");
}

TEST_F(CliTest, QuietLeavesOutNoticesButNeverTheLineOfACodeOfOurs) {
  fake_.run_result.exit_code = 124;
  fake_.run_result.message = "the job was ended by its limit: timeout";
  fake_.run_result.pending_changes = 4;
  fake_.notices = {"covered: .env"};
  EXPECT_EQ(Bawn({"run", "--quiet", "make"}), 124);
  EXPECT_EQ(Err(), "bawn: the job was ended by its limit: timeout\n");
  EXPECT_EQ(Bawn({"run", "make"}), 124);
  EXPECT_THAT(Err(), HasSubstr("bawn: covered: .env\n"));
}

TEST_F(CliTest, ErrorsShowRuleAndHintAndNoTerminalCodes) {
  fake_.error = Fail(ErrorCode::kPermissionDenied, "workspace /\x1b[2J is refused",
                     "use a directory below it\nor another", "workspace.root")
                    .error();
  EXPECT_EQ(Bawn({"run", "make"}), 125);
  EXPECT_EQ(Err(),
            "bawn: workspace /\\x1b[2J is refused\n  rule: workspace.root\n"
            "  hint: use a directory below it\n        or another\n");
}

TEST_F(CliTest, ExitCodesFollowTheKindOfError) {
  struct Row {
    ErrorCode code;
    int exit_code;
  };
  for (Row row : {Row{ErrorCode::kInvalidArgument, 2}, Row{ErrorCode::kNotFound, 1},
                  Row{ErrorCode::kPermissionDenied, 1}, Row{ErrorCode::kFailedPrecondition, 1},
                  Row{ErrorCode::kConflict, 1}, Row{ErrorCode::kUnavailable, 1},
                  Row{ErrorCode::kResourceExhausted, 125}, Row{ErrorCode::kDeadlineExceeded, 125},
                  Row{ErrorCode::kSystem, 125}, Row{ErrorCode::kInternal, 125}}) {
    fake_.error = Fail(row.code, "x").error();
    EXPECT_EQ(Bawn({"list"}), row.exit_code);
    EXPECT_EQ(Bawn({"run", "true"}), 125);
  }
}

TEST_F(CliTest, WrongUsageIsTwoAndForRunOneHundredAndTwentyFive) {
  EXPECT_EQ(Bawn({"list", "--nope"}), 2);
  EXPECT_EQ(Bawn({"nope"}), 2);
  EXPECT_EQ(Bawn({}), 2);
  EXPECT_EQ(Bawn({"run", "--nope", "true"}), 125);
  EXPECT_EQ(Bawn({"shell", "extra"}), 125);
  EXPECT_FALSE(fake_.run || fake_.list);
}

TEST_F(CliTest, AClosedStatusDescriptorIsNamed) {
  EXPECT_EQ(Bawn({"run", "--status-fd", "999", "true"}), 125);
  EXPECT_THAT(Err(), HasSubstr("descriptor 999 is not open"));
  EXPECT_FALSE(fake_.run);
}

TEST_F(CliTest, InsideASandboxEverythingButHelpAndVersionRefuses) {
  console_.environment.emplace_back("BAWN_SANDBOX=sb_abc");
  for (const VerbRow& verb : Verbs()) {
    Words words = {std::string(verb.name)};
    if (verb.operand == Operand::kCommand) words.emplace_back("true");
    if (verb.operand == Operand::kShellName) words.emplace_back("bash");
    bool runs = verb.verb == Verb::kRun || verb.verb == Verb::kShell;
    bool helps = verb.verb == Verb::kHelp || verb.verb == Verb::kVersion;
    EXPECT_EQ(Bawn(words), helps ? 0 : runs ? 125 : 1) << verb.name;
    EXPECT_EQ(Bawn({std::string(verb.name), "--help"}), 0) << verb.name;
  }
  EXPECT_EQ(Bawn({"--version"}), 0);
  EXPECT_EQ(Bawn({"--help"}), 0);
  EXPECT_THAT(Err(), HasSubstr("already inside sandbox sb_abc"));
  EXPECT_FALSE(fake_.run || fake_.list || fake_.discard);
}

TEST_F(CliTest, HelpAndVersionGoToStdout) {
  EXPECT_EQ(Bawn({"--version"}), 0);
  EXPECT_EQ(Out(), "bawn " BAWN_VERSION "\n");
  EXPECT_EQ(Bawn({"help", "run"}), 0);
  EXPECT_THAT(Out(), HasSubstr(VerbHelp(Verb::kRun)));
  EXPECT_EQ(Bawn({"help", "publsh"}), 2);
  EXPECT_THAT(Err(), HasSubstr("bawn help publish"));
}

TEST_F(CliTest, ListIsATableAndMakesNamesSafe) {
  fake_.answer = *ParseJson(R"({"sandboxes": [
    {"sandbox_id": "sb_1", "name": "brave-otter-k3f", "state": "ended", "age_seconds": 300,
     "command": ["make", "a b", "\\x1b[2J\n"],
     "workspace": {"path": "/home/u/p", "added": 1, "modified": 2, "deleted": 3, "bytes": 2048}},
    {"sandbox_id": "sb_2", "name": "calm-elm-abc", "state": "live", "age_seconds": 1,
     "command": ["sh"], "workspace": "/home/u/q"},
    {"sandbox_id": "sb_3", "damaged": "cut off"}]})");
  EXPECT_EQ(Bawn({"list", "-w", "/home/u/p"}), 0);
  EXPECT_EQ(fake_.list->first, "/home/u/p");
  EXPECT_FALSE(fake_.list->second);
  EXPECT_THAT(Out(), StartsWith("NAME"));
  EXPECT_THAT(Out(), HasSubstr("brave-otter-k3f  ended    5 min  6        2.0 KiB  make 'a b' '"));
  EXPECT_THAT(Out(), HasSubstr("calm-elm-abc     live     1 s    -        -        sh"));
  EXPECT_THAT(Out(), HasSubstr("sb_3             damaged"));
  EXPECT_THAT(Out(), Not(HasSubstr("\x1b")));
  std::string out = Out();
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 4);  // no name forges a line
}

TEST_F(CliTest, JsonOfEveryListingIsTheServicesAnswer) {
  fake_.answer = *ParseJson(R"({"sandboxes": [], "level_proven": "isolated", "available": true})");
  std::string expected;
  for (const char* verb : {"list", "show", "why", "doctor"}) {
    EXPECT_EQ(Bawn({verb, "--json"}), 0) << verb << Err();
    expected += ToJsonText(fake_.answer, 2) + "\n";
    EXPECT_EQ(Out(), expected);
  }
  EXPECT_EQ(Err(), "");
}

TEST_F(CliTest, DoctorIsANoWhereTheDefaultLevelIsNotProven) {
  fake_.answer = *ParseJson(R"({"available": false, "level_proven": "restricted", "layers": [
    {"name": "userns", "state": "missing", "detail": "clone3: EPERM", "remedy": "do this"}]})");
  EXPECT_EQ(Bawn({"doctor"}), 1);
  EXPECT_THAT(Out(), HasSubstr("not ready"));
  EXPECT_THAT(Out(), HasSubstr("userns  missing  clone3: EPERM"));
  EXPECT_THAT(Out(), HasSubstr("userns: do this"));
  EXPECT_EQ(Bawn({"doctor", "--json"}), 1);
  fake_.answer = *ParseJson(R"({"available": true, "level_proven": "bounded", "layers": []})");
  EXPECT_EQ(Bawn({"doctor"}), 0);
  fake_.answer = *ParseJson(R"({"available": true, "level_proven": "nonsense"})");
  EXPECT_EQ(Bawn({"doctor"}), 1);
}

TEST_F(CliTest, ShowReadsLikeAReceipt) {
  fake_.answer = *ParseJson(R"({"sandbox": {"id": "sb_1", "name": "brave-otter-k3f"}, "receipts": [
    {"job_id": "job_1", "command": ["make"], "started_at": "A", "ended_at": "B",
     "outcome": {"kind": "killed", "exit_code": null, "signal": null, "killed_by": "timeout"},
     "containment": {"requested": "isolated", "obtained": "isolated",
                     "layers": [{"name": "seccomp", "state": "held", "verified_by": "canary"}]},
     "limits": {"time": {"value": 10, "state": "enforced"}}, "usage": {"cpu_ms": 5},
     "workspace": {"added": 1, "modified": 0, "deleted": 0, "bytes": 10, "path": "/p"}}, null]})");
  EXPECT_EQ(Bawn({"show", "brave-otter-k3f"}), 0) << Err();
  EXPECT_EQ(fake_.show->name, "brave-otter-k3f");
  EXPECT_THAT(Out(), HasSubstr("outcome:      killed by its limit: timeout\n"));
  EXPECT_THAT(Out(), HasSubstr("seccomp held, verified by canary"));
  EXPECT_THAT(Out(), HasSubstr("limits:       time 10 ms enforced\n"));
  EXPECT_THAT(Out(), HasSubstr("changes:      1 added, 0 modified, 0 deleted, 10 B\n"));
  fake_.answer = *ParseJson(R"({"sandbox": {"id": "sb_1", "name": "n"}, "receipts": [null]})");
  EXPECT_EQ(Bawn({"show"}), 0);
  EXPECT_THAT(Err(), HasSubstr("no receipt can be read"));
}

TEST_F(CliTest, WhyPutsDenialsFirstWithTheirRemedy) {
  fake_.answer = *ParseJson(R"({"sandbox_id": "sb_1", "sandbox_name": "n", "decisions": [
    {"verdict": "allow", "subject": "env:LANG", "rule": "env.pass", "file": "built-in", "line": 0},
    {"verdict": "deny", "subject": "env:AWS_KEY", "rule": "env.credential", "file": "/p.yaml",
     "line": 7, "reason": "a credential by its name", "remedy": "--secret AWS_KEY"}],
    "containment": {"obtained": "isolated", "layers": []}})");
  EXPECT_EQ(Bawn({"why"}), 0);
  EXPECT_THAT(Out(), HasSubstr("denied:\n  env:AWS_KEY\n    a credential by its name; rule "
                               "env.credential (/p.yaml:7)\n    to change it: --secret AWS_KEY\n"
                               "allowed:\n  env:LANG  rule env.pass (built-in)\n"));
  EXPECT_THAT(Out(), HasSubstr("the network is off"));
  fake_.answer = *ParseJson(R"({"containment": {"obtained": "none"}})");
  std::string before = Out();
  EXPECT_EQ(Bawn({"why"}), 0);
  EXPECT_THAT(Out().substr(before.size()), Not(HasSubstr("the network is off")));
}

TEST_F(CliTest, PlanShowsNamesOfVariablesNotValues) {
  fake_.plan_result.job.argv = {"make", "a b"};
  fake_.plan_result.job.env = {"TOKEN=hunter2"};
  fake_.plan_result.plan.ops.resize(1);
  fake_.plan_result.plan.ops[0].kind = plan::OpKind::kBind;
  fake_.plan_result.plan.ops[0].target = "/usr";
  fake_.plan_result.decisions = {
      {plan::Verdict::kDeny, "env:X", "env.x", "built-in", 0, "no", "ask"}};
  EXPECT_EQ(Bawn({"plan", "--memory", "1G", "--", "make", "a b"}), 0);
  EXPECT_EQ(fake_.plan->limits.memory_bytes, 1U << 30);
  EXPECT_EQ(Bawn({"plan", "--json"}), 0);
  EXPECT_THAT(Out(), HasSubstr("command:     make 'a b'\n"));
  EXPECT_THAT(Out(), HasSubstr("TOKEN"));
  EXPECT_THAT(Out(), HasSubstr("/usr"));
  EXPECT_THAT(Out(), HasSubstr("to change it: ask"));
  EXPECT_THAT(Out(), Not(HasSubstr("hunter2")));
}

TEST_F(CliTest, DiffPassesItsOptionsAndSaysWhichSandbox) {
  fake_.text = "diff --git a/x b/x\n";
  fake_.answer = *ParseJson(R"({"sandbox_name": "n", "digest": "abc", "paths": 2, "ignored": 1})");
  EXPECT_EQ(Bawn({"diff", "--path", "src", "--ignored", "n"}), 0);
  EXPECT_EQ(Out(), fake_.text);
  EXPECT_THAT(Err(), HasSubstr("bawn: n: 2 paths changed, and 1 that git ignores"));
  EXPECT_THAT(Err(), HasSubstr("bawn: digest abc\n"));
  EXPECT_EQ(fake_.diff->paths, Words{"src"});
  EXPECT_TRUE(fake_.diff->include_ignored);
  EXPECT_FALSE(fake_.diff->colour || fake_.diff->terminal);
  EXPECT_EQ(Bawn({"diff", "--names", "-z"}), 0);
  EXPECT_TRUE(fake_.diff->names_only && fake_.diff->nul_terminated);
  EXPECT_EQ(Bawn({"diff", "--exit-code", "--digest"}), 1);
  EXPECT_TRUE(fake_.diff->digest_only);
  fake_.answer = *ParseJson(R"({"paths": []})");
  EXPECT_EQ(Bawn({"diff", "--exit-code", "--stat"}), 0);
  EXPECT_TRUE(fake_.diff->stat);
}

TEST_F(CliTest, LogsAreByteExactInAPipeAndSafeOnATerminal) {
  fake_.text = "a\x1b]52;c;x\x07\xff\r\nb\xc3\xa9\n";
  EXPECT_EQ(Bawn({"logs", "--stderr", "n"}), 0);
  EXPECT_EQ(fake_.logs_stream, "err");
  EXPECT_EQ(Out(), fake_.text);
  console_.out_terminal = true;
  EXPECT_EQ(Bawn({"logs"}), 0);
  EXPECT_EQ(fake_.logs_stream, "both");
  EXPECT_EQ(Out().substr(fake_.text.size()), "a\\x1b]52;c;x\\x07\\xff\nb\xc3\xa9\n");
}

TEST_F(CliTest, LogsKeepCharactersWholeAcrossChunks) {
  console_.out_terminal = true;
  for (size_t pad : {262143U, 262142U, 262141U}) {
    std::string before = Out();
    fake_.text = std::string(pad, 'x') + "\xf0\x9f\x98\x80\r\n" + "end";
    EXPECT_EQ(Bawn({"logs", "--stdout"}), 0);
    EXPECT_EQ(Out().substr(before.size()), std::string(pad, 'x') + "\xf0\x9f\x98\x80\n" + "end");
  }
}

TEST_F(CliTest, ABrokenPipeIsQuiet) {
  auto [read_end, write_end] = *sys::Pipe();
  read_end.Reset();
  signal(SIGPIPE, SIG_IGN);
  console_.out_fd = write_end.get();
  fake_.text = "text";
  EXPECT_EQ(Bawn({"help"}), 128 + SIGPIPE);
  EXPECT_EQ(Bawn({"logs"}), 128 + SIGPIPE);
  EXPECT_EQ(Bawn({"diff"}), 128 + SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(Err(), "");
}

}  // namespace
}  // namespace bawn::cli
