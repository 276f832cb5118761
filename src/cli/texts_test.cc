// The texts made from the table, against accepted files. BAWN_ACCEPT_GOLDEN=1 writes them anew.
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/help.h"
#include "cli/test_support.h"
#include "sys/sockets.h"

namespace bawn::cli {
namespace {

void ExpectGolden(const std::string& name, const std::string& text) {
  std::string directory(BAWN_GOLDEN_DIR);
  if (getenv("BAWN_ACCEPT_GOLDEN") != nullptr) {
    UniqueFd dir = *sys::OpenDir(AT_FDCWD, directory);
    ASSERT_TRUE(sys::WriteFileAtomic(dir.get(), name, text, 0644, false));
  }
  Result<std::string> golden = sys::ReadFileAt(AT_FDCWD, directory + "/" + name, 1 << 20);
  ASSERT_TRUE(golden) << golden.error().message;
  EXPECT_EQ(text, *golden) << name;
}

struct Ran {
  int status = -1;  // as wait(2)
  std::string out;
};
// Runs /usr/bin/PROGRAM with `input` on stdin; stdout and stderr together.
Ran RunProgram(const std::string& program, std::vector<std::string> argv,
               const std::string& input) {
  UniqueFd file = *sys::Openat2(AT_FDCWD, program, O_RDONLY);
  UniqueFd in = *sys::SealedMemfd("in", input);
  UniqueFd readable = *sys::Reopen(in.get(), O_RDONLY);
  auto [read_end, write_end] = *sys::Pipe();
  argv.insert(argv.begin(), program);
  sys::SpawnSpec spec;
  spec.program_fd = file.get();
  spec.argv = std::move(argv);
  spec.envp = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  spec.fds = {readable.get(), write_end.get(), write_end.get()};
  sys::Child child = *sys::Spawn(spec);
  write_end.Reset();
  Ran ran;
  ran.out = *sys::ReadAll(read_end.get(), 16 << 20);
  bool ended = false;
  ran.status = sys::WaitPidfd(child.pidfd.get(), true, &ended)->status;
  return ran;
}

TEST(TextsTest, HelpIsTheAcceptedText) {
  std::string all = GeneralHelp();
  for (const VerbRow& row : Verbs()) all += "\n----\n" + VerbHelp(row.verb);
  ExpectGolden("help.txt", all);
}

TEST(TextsTest, ManualIsTheAcceptedText) { ExpectGolden("bawn.1", ManualPage()); }

TEST(TextsTest, CompletionsAreTheAcceptedScripts) {
  ExpectGolden("bawn.bash", CompletionScript("bash"));
  ExpectGolden("_bawn", CompletionScript("zsh"));
  ExpectGolden("bawn.fish", CompletionScript("fish"));
}

TEST(TextsTest, TableAsJsonIsTheAcceptedText) {
  ExpectGolden("table.json", ToJsonText(TableJson(), 2) + "\n");
}

TEST(TextsTest, EveryOptionStandsInEveryText) {
  std::string fish = CompletionScript("fish"), manual = ManualPage();
  for (const OptionRow& row : Options()) {
    std::string name(row.name);
    EXPECT_NE(CompletionScript("bash").find("--" + name), std::string::npos) << name;
    EXPECT_NE(CompletionScript("zsh").find("--" + name), std::string::npos) << name;
    EXPECT_NE(fish.find(" -l " + name + " "), std::string::npos) << name;
    std::string roff = "\\fB\\-\\-";
    for (char c : name) roff += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_NE(manual.find(roff + "\\fR"), std::string::npos) << name;
    for (const VerbRow& verb : Verbs()) {
      bool has = VerbHelp(verb.verb).find("--" + name + (row.argument.empty() ? "\n" : " ")) !=
                 std::string::npos;
      if ((row.verbs & Bit(verb.verb)) != 0) EXPECT_TRUE(has) << verb.name << " --" << name;
    }
  }
}

TEST(TextsTest, HelpFitsEightyColumns) {
  for (const VerbRow& row : Verbs()) {
    std::string text = GeneralHelp() + VerbHelp(row.verb);
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at);
      // A command that is to be copied is not broken.
      if (text.compare(at, 7, "  bawn ") != 0 && text.compare(at, 7, "usage: ") != 0) {
        EXPECT_LE(end - at, 80U) << text.substr(at, end - at);
      }
      at = end + 1;
    }
  }
}

TEST(CompletionTest, BashAcceptsItsScript) {
  Ran ran = RunProgram("/bin/bash", {"-n"}, CompletionScript("bash"));
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_NE(RunProgram("/bin/bash", {"-n"}, CompletionScript("bash") + "\nif").status, 0);
}

TEST(CompletionTest, ZshAcceptsItsScript) {
  if (access("/usr/bin/zsh", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/zsh on this machine";
  Ran ran = RunProgram("/usr/bin/zsh", {"-n"}, CompletionScript("zsh"));
  EXPECT_EQ(ran.status, 0) << ran.out;
}

TEST(CompletionTest, FishAcceptsItsScript) {
  if (access("/usr/bin/fish", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/fish on this machine";
  Ran ran = RunProgram("/usr/bin/fish", {"--no-execute"}, CompletionScript("fish"));
  EXPECT_EQ(ran.status, 0) << ran.out;
}

TEST(ManualTest, GroffFormatsItWithoutAWarning) {
  if (access("/usr/bin/groff", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/groff on this machine";
  Ran ran = RunProgram("/usr/bin/groff", {"-man", "-Tutf8", "-ww", "-z"}, ManualPage());
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "");
}

// What bash would offer for the words; `bawn` itself is a function that answers with two names.
std::string Offered(const std::string& words, int at) {
  std::string script = CompletionScript("bash") +
                       "\nbawn() { printf '  \"name\": \"brave-otter-k3f\",\\n'; }\n"
                       "compopt() { :; }\nCOMP_WORDS=(" +
                       words + ")\nCOMP_CWORD=" + std::to_string(at) +
                       "\n_bawn\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  return RunProgram("/bin/bash", {"--norc"}, script).out;
}

TEST(CompletionTest, BashOffersTheRightWords) {
  EXPECT_EQ(Offered("bawn pub", 1), "publish\n");
  EXPECT_EQ(Offered("bawn run --mem", 2), "--memory\n");
  EXPECT_EQ(Offered("bawn run --level iso", 3), "isolated\n");
  EXPECT_EQ(Offered("bawn run --level = iso", 4), "isolated\n");
  EXPECT_EQ(Offered("bawn run --in br", 3), "brave-otter-k3f\n");
  EXPECT_EQ(Offered("bawn diff ''", 2), "brave-otter-k3f\n@last\n");
  EXPECT_EQ(Offered("bawn completions f", 2), "fish\n");
  EXPECT_EQ(Offered("bawn help dis", 2), "discard\n");
  EXPECT_EQ(Offered("bawn run -w /usr/inclu", 3), "/usr/include\n");
  EXPECT_EQ(Offered("bawn diff --st", 2), "--stat\n");
}

TEST(CompletionTest, BashLeavesTheCommandsOwnOptionsAlone) {
  EXPECT_EQ(Offered("bawn run -- bas --lev", 4), "\n");
  EXPECT_EQ(Offered("bawn run --timeout 5m gre --lev", 5), "\n");
  EXPECT_NE(Offered("bawn run -- mkdi", 3).find("mkdir\n"), std::string::npos);
  EXPECT_NE(Offered("bawn run -q mkdi", 3).find("mkdir\n"), std::string::npos);
}

}  // namespace
}  // namespace bawn::cli
