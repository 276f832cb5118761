#include "plan/gates.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "plan/gates_text.h"

namespace bawn::plan {
namespace {

std::string Rule(std::string_view path) {
  const GateVerdict verdict = JudgePath(path);
  EXPECT_EQ(verdict.kind == GateKind::kNone, verdict.rule_id.empty()) << path;
  EXPECT_EQ(verdict.rule_id.empty(), verdict.reason.empty()) << path;
  return std::string(verdict.rule_id);
}

TEST(GatesTest, WhatRunsByItselfIsNamed) {
  const std::pair<const char*, const char*> kRows[] = {
      {".envrc", "gate.direnv"},
      {"sub/dir/.envrc", "gate.direnv"},
      {".vscode/tasks.json", "gate.editor"},
      {"packages/a/.vscode/settings.json", "gate.editor"},
      {".idea/runConfigurations/x.xml", "gate.editor"},
      {"x.code-workspace", "gate.editor"},
      {".claude/settings.json", "gate.agent"},
      {".claude/hooks/deep/x.sh", "gate.agent"},
      {".codex/config.toml", "gate.agent"},
      {".cursor/mcp.json", "gate.agent"},
      {".mcp.json", "gate.agent"},
      {"AGENTS.md", "gate.agent-instructions"},
      {"sub/CLAUDE.md", "gate.agent-instructions"},
      {".github/workflows/x.yml", "gate.ci"},
      {".github/actions/a/index.js", "gate.ci"},
      {".gitlab-ci.yml", "gate.ci"},
      {".circleci/config.yml", "gate.ci"},
      {"Jenkinsfile", "gate.ci"},
      {"ci/Jenkinsfile.release", "gate.ci"},
      {"azure-pipelines.yml", "gate.ci"},
      {".pre-commit-config.yaml", "gate.git-hooks"},
      {".husky/pre-commit", "gate.git-hooks"},
      {".githooks/post-merge", "gate.git-hooks"},
      {".npmrc", "gate.packages"},
      {".yarn/releases/yarn.cjs", "gate.packages"},
      {".cargo/config.toml", "gate.packages"},
      {".gitmodules", "gate.gitmodules"},
      {"GITMOD~1", "gate.gitmodules"},
      {".devcontainer/devcontainer.json", "gate.devcontainer"},
      {".bashrc", "gate.shell"},
      {".config/fish/config.fish", "gate.shell"},
      {"sitecustomize.py", "gate.interpreter"},
      {".gdbinit", "gate.interpreter"}};
  for (const auto& [path, rule] : kRows) {
    EXPECT_EQ(Rule(path), rule) << path;
    EXPECT_EQ(JudgePath(path).kind, GateKind::kRunsByItself) << path;
  }
}

TEST(GatesTest, WhatRunsOnABuildIsShownApart) {
  for (const char* path :
       {"Makefile", "sub/makefile", "CMakeLists.txt", "cmake/x.cmake", "build.rs", "setup.py",
        "tests/conftest.py", "build.gradle.kts", "gradlew", "gradle/wrapper/gradle-wrapper.jar",
        "package.json", "Dockerfile", "Dockerfile.dev", "vite.config.ts", "x.csproj",
        "debian/rules"}) {
    EXPECT_EQ(JudgePath(path).kind, GateKind::kRunsOnBuild) << path;
  }
}

TEST(GatesTest, OrdinaryFilesAreFree) {
  for (const char* path : {"src/main.cc",
                           "README.md",

                           "github/workflows/x.yml",
                           "envrc",
                           "vscode/tasks.json",
                           ".github/CODEOWNERS",
                           ".github/ISSUE_TEMPLATE/bug.md",
                           ".gitignore",
                           ".gitkeep",
                           ".gitattributes",
                           "git",
                           "a.git",
                           "x.git/y",
                           ".gitx",
                           "git~x",
                           "gitmodules",
                           "gradle",
                           "debian",
                           "debian/changelog",
                           "project",
                           ".clang-format",
                           ".editorconfig",
                           "...",
                           "claude.md.bak",
                           "my.mcp.json",
                           ""}) {
    EXPECT_EQ(JudgePath(path).kind, GateKind::kNone) << path << " " << Rule(path);
  }
}

TEST(GatesTest, OtherSpellingsOfTheSameNameAreCaught) {
  for (const char* path : {".VSCode/Tasks.json", ".vscode /tasks.json", ".ENVRC", ".envrc.",
                           ".envrc:stream", ".git\xe2\x80\x8chub/workflows/x.yml", "jenkinsfile",
                           "\xef\xbb\xbf.npmrc", ".github/workflows./x.yml"}) {
    EXPECT_EQ(JudgePath(path).kind, GateKind::kRunsByItself) << path;
  }
}

TEST(GatesTest, ASymlinkInPlaceOfAGatedDirectoryIsGated) {
  for (const char* path :
       {".vscode", ".github", "sub/.github", ".github/workflows", ".husky", ".config"}) {
    EXPECT_EQ(JudgePath(path).kind, GateKind::kRunsByItself) << path;
  }
}

TEST(GatesTest, AliasesOfDotGitAreNeverTaken) {
  for (const char* name : {".git",
                           ".GIT",
                           ".Git",
                           "git~1",
                           "GIT~1",
                           "git~12",
                           ".git ",
                           ".git.",
                           ".git. . ",
                           ".git:x",
                           ".git::$INDEX_ALLOCATION",
                           ".g\xe2\x80\x8cit",
                           "\xef\xbb\xbf.git",
                           ".gi\xe2\x80\xaet",
                           ".git\xe2\x81\xaf",
                           "a\\.git\\config",
                           "x\\GIT~1",
                           "git~1.",
                           "git~1 ",
                           "git~1:x"}) {
    EXPECT_TRUE(IsDotGitAlias(name)) << name;
    for (const std::string& path : {std::string(name), std::string(name) + "/config",
                                    "sub/" + std::string(name) + "/hooks/pre-commit"}) {
      EXPECT_EQ(JudgePath(path).kind, GateKind::kNever) << path;
      EXPECT_EQ(Rule(path), "gate.dot-git");
    }
  }
  for (const char* name :
       {".gitignore", ".git-x", ".gitx", "git", "git~", "git~x", ".g it", ". git",
        ".g\xe2\x80\x8ait" /* hair space: not ignored */, "..git", ".gi", "x.git"}) {
    EXPECT_FALSE(IsDotGitAlias(name)) << name;
  }
}

TEST(GatesTest, LinksThatLeaveTheWorkspaceNeedAYes) {
  const auto rule = [](const char* path, const char* target) {
    return std::string(JudgeSymlink(path, target).rule_id);
  };
  EXPECT_EQ(rule("l", "/etc/passwd"), "gate.symlink-out");
  EXPECT_EQ(rule("l", ".."), "gate.symlink-out");
  EXPECT_EQ(rule("a/b/l", "../../../x"), "gate.symlink-out");
  EXPECT_EQ(rule("a/b/l", "x/../../../../y"), "gate.symlink-out");
  EXPECT_EQ(rule("l", ".git/hooks"), "gate.symlink-git");
  EXPECT_EQ(rule("a/l", "../.GIT/config"), "gate.symlink-git");
  EXPECT_EQ(rule("a/b/l", "../../x"), "");
  EXPECT_EQ(rule("a/l", "./b//c/.."), "");
  EXPECT_EQ(rule("l", "..."), "");
}

TEST(GatesTest, TheTableIsWholeAndItsRulesAreUnique) {
  const std::string text(GatesText());
  size_t rows = 0;
  std::set<std::string> rules;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.front() == '#') continue;
    ++rows;
    const size_t from = line.find("gate.");
    ASSERT_NE(from, std::string::npos) << line;
    rules.insert(line.substr(from, line.find(' ', from) - from));
  }
  EXPECT_EQ(rules.size(), rows);
  EXPECT_GT(rows, 20u);
}

TEST(LifecycleTest, OnlyKeysThatRunByThemselvesCount) {
  const char* const kBase = R"({"name":"x","scripts":{"test":"jest","postinstall":"a"}})";
  const auto changed = [&](const char* after) {
    return LifecycleChanged("sub/package.json", kBase, after);
  };
  EXPECT_FALSE(changed(kBase));
  EXPECT_FALSE(changed(R"({"name":"y","scripts":{"postinstall":"a","test":"evil"}})"));
  EXPECT_TRUE(changed(R"({"name":"x","scripts":{"test":"jest","postinstall":"b"}})"));
  EXPECT_TRUE(changed(R"({"name":"x","scripts":{"test":"jest"}})"));
  EXPECT_TRUE(changed(R"({"name":"x","scripts":{"postinstall":"a","prepare":"b"}})"));
  EXPECT_TRUE(changed(R"({"scripts":{"postinstall":"a"},"lint-staged":{"*":"evil"}})"));
  EXPECT_TRUE(changed(R"({"scripts":{"postinstall":"a"},"packageManager":"yarn@https://evil"}})"));
  EXPECT_TRUE(changed("not json"));
  EXPECT_TRUE(changed(R"({"scripts":{"postinstall":"a"},"scripts":{"postinstall":"evil"}})"));
  EXPECT_FALSE(changed("\xef\xbb\xbf{\"scripts\":{\"postinstall\":\"a\"}}"));
}

TEST(LifecycleTest, NewAndRemovedFilesAreComparedWithNothing) {
  EXPECT_FALSE(LifecycleChanged("package.json", "", R"({"scripts":{"test":"x"}})"));
  EXPECT_TRUE(LifecycleChanged("package.json", "", R"({"scripts":{"install":"x"}})"));
  EXPECT_TRUE(LifecycleChanged("PACKAGE.JSON", "", R"({"scripts":{"install":"x"}})"));
  EXPECT_FALSE(LifecycleChanged("package.json.bak", "", R"({"scripts":{"install":"x"}})"));
  EXPECT_TRUE(LifecycleChanged("composer.json", "{}", R"({"scripts":{"post-install-cmd":"x"}})"));
  EXPECT_FALSE(LifecycleChanged("composer.json", "{}", R"({"require":{"a/b":"1"}})"));
}

TEST(LifecycleTest, AttributesCountWhenADriverIsNamed) {
  EXPECT_FALSE(LifecycleChanged(".gitattributes", "*.c text\n", "*.c text eol=lf\n"));
  EXPECT_TRUE(LifecycleChanged(".gitattributes", "*.c text\n", "*.c text\n* filter=lfs\n"));
  EXPECT_TRUE(LifecycleChanged("a/.gitattributes", "*.c diff=x\n", ""));
  EXPECT_TRUE(LifecycleChanged(".gitattributes", "", "* merge=ours\n"));
  EXPECT_FALSE(LifecycleChanged(".gitattributes", "", "# filter=lfs\n"));
  EXPECT_EQ(JudgeContent(".gitattributes", "", "* filter=x\n").rule_id, "gate.attributes");
  EXPECT_TRUE(HasContentGate("x/.gitattributes") && HasContentGate("package.json"));
  EXPECT_FALSE(HasContentGate("src/main.cc"));
}

}  // namespace
}  // namespace bawn::plan
