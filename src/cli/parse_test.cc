#include "cli/parse.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace bawn::cli {
namespace {

using Words = std::vector<std::string>;

std::string HintOf(const Words& words) {
  Result<Invocation> parsed = Parse(words);
  return parsed ? "(no error)" : parsed.error().hint;
}
std::string MessageOf(const Words& words) {
  Result<Invocation> parsed = Parse(words);
  return parsed ? "(no error)" : parsed.error().message;
}

TEST(ParseTest, WhatFollowsTheCommandIsTheCommands) {
  for (const Words& words : {Words{"run", "--quiet", "--", "curl", "-sS", "--level", "x", "--"},
                             Words{"run", "--quiet", "curl", "-sS", "--level", "x", "--"}}) {
    Result<Invocation> run = Parse(words);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->operands, (Words{"curl", "-sS", "--level", "x", "--"}));
    EXPECT_TRUE(run->Has(OptionId::kQuiet));
    EXPECT_FALSE(run->Has(OptionId::kLevel));
  }
  EXPECT_EQ(Parse({"run", "--", "--version"})->operands, Words{"--version"});
  EXPECT_EQ(Parse({"run", "make", "--help"})->operands, (Words{"make", "--help"}));
  EXPECT_EQ(Parse({"run", "-", "x"})->operands, (Words{"-", "x"}));
}

TEST(ParseTest, AnUnknownOptionIsNeverSwallowed) {
  EXPECT_NE(MessageOf({"run", "--memroy", "1G", "--", "true"}).find("--memroy"), std::string::npos);
  EXPECT_NE(HintOf({"run", "--memroy", "1G", "--", "true"}).find("--memory"), std::string::npos);
  EXPECT_NE(HintOf({"run", "-x", "true"}).find("bawn run -- COMMAND -x"), std::string::npos);
  EXPECT_NE(HintOf({"run", "--branch", "b", "true"}).find("bawn publish"), std::string::npos);
  EXPECT_NE(HintOf({"diff", "--nmaes"}).find("--names"), std::string::npos);
  EXPECT_NE(MessageOf({"run", "--mem", "1G", "true"}).find("--mem"),
            std::string::npos);  // no prefixes
}

TEST(ParseTest, AnOptionBeforeTheCommandIsSentToItsPlace) {
  EXPECT_NE(HintOf({"--memory", "1G", "run", "true"}).find("bawn run --memory"), std::string::npos);
  EXPECT_NE(HintOf({"--memory=1G", "run", "true"}).find("bawn run --memory"), std::string::npos);
  EXPECT_NE(MessageOf({"-x"}).find("-x"), std::string::npos);
}

TEST(ParseTest, AnUnknownCommandGetsASuggestion) {
  EXPECT_EQ(HintOf({"pubish"}), "did you mean bawn publish?");
  EXPECT_NE(HintOf({"make", "test"}).find("bawn run -- make"), std::string::npos);
  EXPECT_NE(MessageOf({"\x1b[2J"}).find("\\x1b[2J"), std::string::npos);
  EXPECT_NE(HintOf({}).find("bawn run"), std::string::npos);
}

TEST(ParseTest, MissingAndDoubleValuesAreNamed) {
  EXPECT_EQ(MessageOf({"run", "--timeout"}), "--timeout needs a value");
  EXPECT_EQ(HintOf({"run", "--timeout"}), "write --timeout TIME");
  EXPECT_EQ(MessageOf({"run", "--timeout", "--", "true"}), "--timeout needs a value");
  EXPECT_EQ(MessageOf({"run", "--timeout", "5", "true"}).find("--timeout: '5'"), 0U);
  EXPECT_EQ(MessageOf({"run", "--timeout=", "true"}).find("--timeout: ''"), 0U);
  EXPECT_EQ(MessageOf({"run", "-w", "", "true"}), "--workspace: the value is empty");
  EXPECT_EQ(MessageOf({"run", "--pids", "1", "--pids", "2", "true"}), "--pids is given twice");
  EXPECT_EQ(MessageOf({"run", "--quiet=yes", "true"}), "--quiet takes no value");
}

TEST(ParseTest, SpellingsOfAValueAreOne) {
  for (const Words& words :
       {Words{"run", "--workspace", "/x", "true"}, Words{"run", "--workspace=/x", "true"},
        Words{"run", "-w", "/x", "true"}, Words{"run", "-w/x", "true"},
        Words{"run", "-qtw/x", "true"}, Words{"run", "-qtw", "/x", "true"}}) {
    Result<Invocation> run = Parse(words);
    ASSERT_TRUE(run) << words[1];
    EXPECT_EQ(run->Text(OptionId::kWorkspace), "/x");
    EXPECT_EQ(run->operands, Words{"true"});
  }
  EXPECT_EQ(Parse({"run", "--env=A=b", "true"})->Texts(OptionId::kEnv), Words{"A=b"});
}

TEST(ParseTest, RepeatableOptionsKeepTheirOrderAndFlagsMayRepeat) {
  Result<Invocation> run = Parse({"run", "-q", "-q", "--ro", "/b", "--ro", "/a", "true"});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->Texts(OptionId::kRo), (Words{"/b", "/a"}));
}

TEST(ParseTest, OperandsAreCounted) {
  EXPECT_EQ(MessageOf({"run"}), "bawn run needs a command");
  EXPECT_EQ(MessageOf({"run", "--"}), "bawn run needs a command");
  EXPECT_NE(HintOf({"run"}).find("bawn shell"), std::string::npos);
  EXPECT_NE(HintOf({"shell", "make"}).find("bawn run"), std::string::npos);
  EXPECT_NE(HintOf({"diff", "a", "src"}).find("--path"), std::string::npos);
  EXPECT_NE(MessageOf({"doctor", "x"}).find("'x'"), std::string::npos);
  EXPECT_TRUE(Parse({"plan"}));
  EXPECT_TRUE(Parse({"diff", "--", "@last"}));
  EXPECT_NE(HintOf({"completions"}).find("bash"), std::string::npos);
  EXPECT_FALSE(Parse({"completions", "tcsh"}));
}

TEST(ParseTest, ContradictionsAreRefused) {
  for (const Words& words :
       {Words{"run", "-t", "-T", "x"}, Words{"run", "--ephemeral", "--keep", "x"},
        Words{"run", "--ephemeral", "--in", "a", "x"}, Words{"diff", "-z"},
        Words{"publish", "--reviewed", std::string(64, 'a'), "--unreviewed"},
        Words{"discard", "--all", "--older", "7d"}, Words{"discard", "--all", "a"},
        Words{"logs", "--stdout", "--stderr"}, Words{"diff", "--digest", "--json"}}) {
    EXPECT_FALSE(Parse(words)) << words[1];
  }
  EXPECT_TRUE(Parse({"list", "--all"}));
  EXPECT_TRUE(Parse({"diff", "--names", "-z"}));
}

TEST(ParseTest, HelpWinsOverMissingOperands) {
  EXPECT_TRUE(Parse({"run", "--help"})->Has(OptionId::kHelp));
  EXPECT_TRUE(Parse({"diff", "-h"})->Has(OptionId::kHelp));
  EXPECT_EQ(Parse({"--help"})->verb, Verb::kHelp);
  EXPECT_EQ(Parse({"-V"})->verb, Verb::kVersion);
}

TEST(TableTest, NamesAndLettersAreUniqueWithinAVerb) {
  for (const VerbRow& verb : Verbs()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const OptionRow& row : Options()) {
      if ((row.verbs & Bit(verb.verb)) == 0) continue;
      EXPECT_TRUE(names.insert(row.name).second) << verb.name << " --" << row.name;
      if (row.letter != 0) EXPECT_TRUE(letters.insert(row.letter).second) << row.letter;
    }
  }
}

// The completion scripts complete a value by the option's name alone.
TEST(TableTest, ANameHasOneKindAndRowsAreWhole) {
  std::map<std::string_view, Kind> kinds;
  std::set<OptionId> ids;
  for (const OptionRow& row : Options()) {
    EXPECT_TRUE(kinds.try_emplace(row.name, row.kind).first->second == row.kind) << row.name;
    EXPECT_TRUE(ids.insert(row.id).second) << row.name;
    EXPECT_EQ(row.kind == Kind::kFlag, row.argument.empty()) << row.name;
    EXPECT_FALSE(row.help.empty() || row.help.ends_with('.')) << row.name;
    EXPECT_NE(row.verbs, 0U);
  }
}

TEST(TableTest, EveryExampleThatIsOneBawnCommandParses) {
  for (const VerbRow& verb : Verbs()) {
    for (const Example& example : verb.examples) {
      std::string_view line = example.line;
      if (line.empty() || line.find_first_of("|&>$\"") != std::string_view::npos) continue;
      Words words;
      for (size_t at = 0; at < line.size();) {
        size_t end = std::min(line.find(' ', at), line.size());
        words.emplace_back(line.substr(at, end - at));
        at = end + 1;
      }
      ASSERT_EQ(words.front(), "bawn");
      words.erase(words.begin());
      Result<Invocation> parsed = Parse(words);
      ASSERT_TRUE(parsed) << line << ": " << parsed.error().message;
      EXPECT_EQ(Row(parsed->verb).name == verb.name || words.front() == "--version", true) << line;
    }
  }
}

}  // namespace
}  // namespace bawn::cli
