// Shared by this room's tests: a fixture with one repository `a`, a state directory, and openings
// made as the service would make them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "workspace/changes.h"
#include "workspace/open.h"
#include "workspace/test_tree.h"
#include "workspace/test_view.h"

namespace bawn::workspace {

class OpenTest : public testing::Test {
 protected:
  void SetUp() override {
    tree_.Shell(R"(mkdir home; git config --global user.name N; git config --global user.email e@x
      git config --global init.defaultBranch main; git config --global protocol.file.allow always
      git init -q a; cd a; mkdir -p src/deep; echo one > f; echo two > src/deep/g
      echo '*.o' > .gitignore; git add .; git commit -qm one; git tag -a -m t v1; touch x.o)");
    StateEnv env;
    env.bawn_state_dir = tree_.path() + "/state";
    env.uid = getuid();
    state_ = std::move(*OpenStateDir(env));
  }
  std::string Path(const std::string& name) const { return tree_.path() + "/" + name; }

  // A request as the service would make it for a command in `name`.
  OpenRequest Request(const std::string& name) const {
    OpenRequest request;
    request.environment = {"GIT_CONFIG_NOSYSTEM=1"};
    request.home = Path("home");
    Result<std::optional<Repository>> repository = FindRepository(Path(name));
    EXPECT_TRUE(repository) << repository.error().message;
    request.repository = *repository;
    Result<std::string> root = ResolveRoot("", Path(name), request.repository);
    EXPECT_TRUE(root);
    request.root = *root;
    Result<GitConfig> config = ReadGitConfig(request.repository, request.home, request.environment);
    EXPECT_TRUE(config) << config.error().message;
    request.git_config = *config;
    request.state_path = state_.path;
    request.protected_names = {".env", ".env.*", "*.pem", "!*.example", "!cacert.pem"};
    request.uid = getuid();
    request.gid = getgid();
    return request;
  }
  Opened Open(const OpenRequest& request) {
    dir_ = std::move(*CreateSandboxDir(state_, NewId("sb_")));
    Result<Opened> opened = OpenLive(dir_, request);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : Opened();
  }
  Error OpenError(const OpenRequest& request) {
    dir_ = std::move(*CreateSandboxDir(state_, NewId("sb_")));
    Result<Opened> opened = OpenLive(dir_, request);
    EXPECT_FALSE(opened);
    return opened ? Error() : opened.error();
  }
  // Runs in the view; fails the test when the script does. The layers can be mounted again after.
  std::string Inside(const Opened& opened, const std::string& script) {
    EXPECT_TRUE(ForgetVolatile(dir_));
    int status = -1;
    std::string output = TestView::Run(opened.facts, script, &status);
    EXPECT_EQ(status, 0) << script << "\n" << output;
    while (output.ends_with('\n')) output.pop_back();
    return output;
  }
  // What git must be able to do in any workspace; leaves commits and objects behind.
  void ExpectGitWorks(const Opened& opened) {
    ExpectNoChanges(opened);
    EXPECT_EQ(Inside(opened, "git status --porcelain --ignore-submodules=none"), "");
    Inside(opened, "git fsck --strict --no-dangling");
    Inside(opened, R"sh(git log --oneline -1 >/dev/null; echo new > new.txt; git add new.txt
      git commit -qm inside; git branch made-inside; git gc -q --prune=now
      test "$(git log -1 --format=%an/%ae)" = N/e@x; git fsck --strict --no-dangling
      test -z "$(git status --porcelain)")sh");
  }
  // What Bawn put in and what git wrote into its own directories is no change.
  void ExpectNoChanges(const Opened& opened) {
    Result<ChangeSet> set = ReadChanges(dir_, opened.meta, {});
    ASSERT_TRUE(set) << set.error().message;
    for (const Change& change : set->changes) ADD_FAILURE() << "change: " << change.path;
  }
  // Names, modes, times (not of a directory that got a link to its index) and content.
  std::string Picture(const std::string& name) const {
    return tree_.Shell("cd '" + name + R"('; find . -path '*/refs/bawn*' -prune -o -printf \
      '%p %y %m %U %G %T@ %s %l\n' | grep -v '/refs d ' | sort; find . -type f ! -path \
      '*/refs/bawn/*' -exec sha256sum {} + | sort)");
  }
  static std::string Joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
  TempTree tree_;
  StateDir state_;
  SandboxDir dir_;
};

}  // namespace bawn::workspace
