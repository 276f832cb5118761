// What git itself says (check-ignore, check-attr) against our matchers, on many random rules.
#include "git/ignore.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>

#include "git/attributes.h"
#include "git/test_repo.h"

namespace bawn::git {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(engine_); }
  template <class C>
  const auto& Pick(const C& items) {
    return items[Below(std::size(items))];
  }

 private:
  std::mt19937 engine_;
};

const std::vector<std::string> kNames = {"a",   "b",     "ab", "abc",   "foo.o", "Foo.O", "x y",
                                         "[z]", "-dash", "é",  "!bang", "#hash", "a*b",   "\\back"};
const std::vector<std::string> kAtoms = {
    "a",        "b",           "ab",          "*",      "**",          "?",   "*.o",   "a*",
    "*b",       "[ab]",        "[!a]",        "[a-c]*", "[^b]",        "x y", "x\\ y", "\\[z]",
    "[[]z]",    "[[:alpha:]]", "[[:bogus:]]", "foo.o",  "f*.o",        "\\a", "[z",    "-dash",
    "é",        "\\!bang",     "\\#hash",     "a\\*b",  "**b",         "a**", "[]-]",  "[\\]]",
    "\\\\back", "*a*b*",       "[A-Z]*",      "?b?",    "[[:upper:]]*"};

std::string RandomPattern(Random& random) {
  std::string pattern;
  if (random.Below(5) == 0) pattern += '!';
  if (random.Below(4) == 0) pattern += '/';
  const size_t parts = 1 + random.Below(3);
  for (size_t i = 0; i < parts; ++i) pattern += (i > 0 ? "/" : "") + random.Pick(kAtoms);
  if (random.Below(4) == 0) pattern += '/';
  if (random.Below(8) == 0) pattern += random.Below(2) == 0 ? "  " : "\\ ";
  if (random.Below(16) == 0) pattern += '\r';
  return pattern;
}

std::string RandomPath(Random& random) {
  std::string path;
  for (size_t i = 0, parts = 1 + random.Below(4); i < parts; ++i) {
    path += (i > 0 ? "/" : "") + random.Pick(kNames);
  }
  return path;
}

std::set<std::string> Split(const std::string& text) {
  std::set<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\0', at);
    out.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Files (and no directory of the same name) of one random tree; the rule files among them.
std::set<std::string> RandomTree(const TestRepo& repo, Random& random, const char* rule_name,
                                 const std::function<std::string()>& rule) {
  std::set<std::string> files, directories;
  for (int i = 0; i < 60; ++i) {
    const std::string path = RandomPath(random);
    bool usable = !directories.contains(path);
    std::vector<std::string> parents;
    for (size_t at = 0; (at = path.find('/', at)) != std::string::npos; ++at) {
      parents.push_back(path.substr(0, at));
      usable &= !files.contains(parents.back());
    }
    if (!usable) continue;
    directories.insert(parents.begin(), parents.end());
    files.insert(path);
    repo.Write(path, "x");
  }
  std::vector<std::string> places(directories.begin(), directories.end());
  places.emplace_back();
  for (int i = 0; i < 4; ++i) {
    const std::string& place = i == 0 ? places.back() : random.Pick(places);  // "": the top
    const std::string path = place.empty() ? rule_name : place + "/" + rule_name;
    std::string text;
    for (size_t n = 1 + random.Below(5); n > 0; --n) text += rule() + "\n";
    repo.Write(path, text);
    files.insert(path);
  }
  return files;
}

TEST(IgnoreTest, AgreesWithGitOnRandomRulesAndPaths) {
  size_t ignored_total = 0, total = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const TestRepo repo;
    const auto files =
        RandomTree(repo, random, ".gitignore", [&] { return RandomPattern(random); });
    repo.Write("../exclude", RandomPattern(random) + "\n");
    repo.Git("config core.excludesFile '" + repo.root() + "/exclude'");
    repo.Write(".git/info/exclude", RandomPattern(random) + "\n");
    const std::string commit = repo.CommitAll();
    // After the commit: `git add` itself stumbles over names that differ in case only.
    if (seed % 4 == 0) repo.Git("config core.ignorecase true");
    std::string input;
    for (const std::string& file : files) input += file + '\0';
    repo.Write("../paths", input);
    const auto expected =
        Split(repo.Shell("git -C tree check-ignore --no-index -z --stdin < paths || true"));
    Repo ours = repo.Open();
    for (const std::string& file : files) {
      const auto ignored = ours.IsIgnored(commit, file, false);
      ASSERT_TRUE(ignored) << ignored.error().message;
      ASSERT_EQ(*ignored, expected.contains(file))
          << "seed " << seed << " path " << file << "\n"
          << repo.Shell(
                 "cd tree; for f in $(find . -name .gitignore | tr ' ' '?') "
                 ".git/info/exclude ../exclude; do echo \"== $f\"; cat \"$f\"; done; git "
                 "check-ignore -v --no-index '" +
                 file + "' || true");
      ignored_total += *ignored ? 1 : 0;
      ++total;
    }
  }
  EXPECT_GT(ignored_total, total / 10);  // the rules said something both ways
  EXPECT_LT(ignored_total, total * 9 / 10);
}

TEST(IgnoreTest, OnlyTheBaseCommitDecidesNotWhatThePayloadWrote) {
  const TestRepo repo;
  repo.Write(".gitignore", "*.log\n/build/\n");
  const std::string commit = repo.CommitAll();
  repo.Write(".gitignore", "*\n!*.log\n");
  repo.Write("sub/.gitignore", "*\n");
  repo.Git("add -A");  // nor the index
  Repo ours = repo.Open();
  EXPECT_FALSE(*ours.IsIgnored(commit, "evil.sh", false));
  EXPECT_FALSE(*ours.IsIgnored(commit, "sub/evil.sh", false));
  EXPECT_TRUE(*ours.IsIgnored(commit, "x.log", false));
  EXPECT_TRUE(*ours.IsIgnored(commit, "build", true));
  EXPECT_FALSE(*ours.IsIgnored(commit, "build", false));
  EXPECT_TRUE(*ours.IsIgnored(commit, "build/deep/x", false));
}

TEST(IgnoreTest, ARepositoryWithoutACommitHasOnlyTheUsersRules) {
  const TestRepo repo;
  repo.Write(".git/info/exclude", "*.tmp\n");
  repo.Write(".gitignore", "*.log\n");
  Repo ours = repo.Open();
  EXPECT_TRUE(*ours.IsIgnored("", "x.tmp", false));
  EXPECT_FALSE(*ours.IsIgnored("", "x.log", false));
}

TEST(IgnoreTest, ASymlinkedRuleFileIsNotFollowed) {
  const TestRepo repo;
  repo.Write("rules", "*.log\n");
  repo.Shell("ln -s rules tree/.gitignore");
  const std::string commit = repo.CommitAll();
  Repo ours = repo.Open();
  EXPECT_FALSE(*ours.IsIgnored(commit, "x.log", false));
}

TEST(PatternTest, ManyStarsStayCheap) {
  std::string pattern, text(4000, 'a');
  for (int i = 0; i < 30; ++i) pattern += "*a";
  pattern += "*b";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(WildMatch(pattern, text, true, false));
  EXPECT_TRUE(WildMatch(pattern, text + "b", true, false));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

std::string RandomAttributeLine(Random& random) {
  const std::vector<std::string> kStates = {
      "text",       "-text",   "!text",  "text=auto", "eol=crlf", "eol=lf", "binary", "-binary",
      "filter=lfs", "-filter", "filter", "diff",      "-diff",    "mine",   "-mine",  "ident",
      "!ident",     "mine=x",  "eol=",   "bad/name",  "-",        "--x"};
  std::string line = random.Below(10) == 0 ? "  " : "";
  if (random.Below(8) == 0) {
    line += "[attr]mine";
  } else {
    std::string pattern = random.Below(2) == 0 ? random.Pick(kAtoms) : RandomPattern(random);
    if (pattern.find(' ') != std::string::npos && random.Below(2) == 0) {
      std::string quoted;
      for (const char c : pattern)
        quoted += c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c);
      pattern = '"' + quoted + '"';
    }
    line += pattern;
  }
  for (size_t n = 1 + random.Below(3); n > 0; --n) {
    // The malformed ones, which end the list, drop their whole line: only now and then.
    line += " " + kStates[random.Below(kStates.size() - (random.Below(6) == 0 ? 0 : 4))];
  }
  return line;
}

std::string Shown(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  switch (std::get<AttributeState>(value)) {
    case AttributeState::kTrue:
      return "set";
    case AttributeState::kFalse:
      return "unset";
    case AttributeState::kUnspecified:
      return "";
  }
  return "?";
}

TEST(AttributesTest, AgreesWithGitOnRandomFiles) {
  size_t mentioned = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Random random(seed * 7919);
    const TestRepo repo;
    const auto files =
        RandomTree(repo, random, ".gitattributes", [&] { return RandomAttributeLine(random); });
    repo.Write(".git/info/attributes", RandomAttributeLine(random) + "\n");
    std::string input;
    for (const std::string& file : files) input += file + '\0';
    repo.Write("../paths", input);
    const std::string out = repo.Shell("git -C tree check-attr -z --stdin -a < paths 2>warnings");
    std::map<std::string, std::map<std::string, std::string>> expected;
    std::vector<std::string> words;
    for (size_t at = 0; at < out.size();) {
      const size_t end = out.find('\0', at);
      words.push_back(out.substr(at, end - at));
      at = end + 1;
    }
    for (size_t i = 0; i + 2 < words.size(); i += 3)
      expected[words[i]][words[i + 1]] = words[i + 2];
    std::map<std::string, AttributeFile> parsed;
    for (const std::string& file : files) {
      if (!file.ends_with(".gitattributes")) continue;
      const std::string directory =
          file.find('/') == std::string::npos ? "" : file.substr(0, file.rfind('/'));
      parsed[directory] = ParseAttributeFile(repo.Read(file), directory.empty());
    }
    const AttributeFile info = ParseAttributeFile(repo.Read(".git/info/attributes"), true);
    for (const std::string& file : files) {
      std::vector<AttributeSource> sources = {{&info, ""}};
      for (std::string_view at = file; !at.empty();) {
        at = at.substr(0, at.rfind('/') == std::string_view::npos ? 0 : at.rfind('/'));
        if (const auto found = parsed.find(std::string(at)); found != parsed.end()) {
          sources.push_back({&found->second, found->first});
        }
      }
      std::map<std::string, std::string> ours;
      for (const auto& [name, value] : AttributesOf(sources, file, false)) {
        if (value != AttributeValue(AttributeState::kUnspecified)) ours[name] = Shown(value);
      }
      ASSERT_EQ(ours, expected[file])
          << "seed " << seed << " path " << file << "\n"
          << repo.Shell(
                 "cd tree; find . -name .gitattributes | while IFS= read -r f; do echo \"== "
                 "$f\"; cat \"$f\"; done; cat .git/info/attributes");
      mentioned += ours.size();
    }
  }
  EXPECT_GT(mentioned, 700u);
}

}  // namespace
}  // namespace bawn::git
