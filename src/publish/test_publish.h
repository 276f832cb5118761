// publish/test_publish.h
// The same with a real git repository in the user's tree.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <string>
#include <vector>

#include "publish/publish.h"
#include "publish/test_act.h"

namespace bawn::publish {

class PublishFixture : public ActTest {
 protected:
  void SetUp() override {
    ActTest::SetUp();
    setenv("HOME", (path_ + "/home").c_str(), 1);
    unsetenv("XDG_CONFIG_HOME");
    git::InitGit();
    Git("init -q -b main");
    Git("config core.autocrlf false");
  }
  // Output of the real git, in the user's tree; a failure of git fails the test.
  std::string Sh(const std::string& script) {
    std::string command = "cd '" + path_ +
                          "' && export GIT_CONFIG_NOSYSTEM=1 "
                          "GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=T "
                          "GIT_COMMITTER_EMAIL=t@t && { " +
                          script + "\n} 2>&1";
    std::string out;
    FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
    for (int c = 0; (c = fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    EXPECT_EQ(pclose(pipe), 0) << script << "\n" << out;
    while (out.ends_with('\n')) out.pop_back();
    return out;
  }
  std::string Git(const std::string& arguments) { return Sh("git -C tree " + arguments); }
  void CommitAndOpen() {
    Git("add -A");
    Git("commit -q --allow-empty -m base");
    OpenRepository();
  }
  void OpenRepository() {
    OpenAndRecord();
    meta_.git_dir = meta_.common_dir = meta_.workspace_path + "/.git";
    if (system(("git -C " + path_ + "/tree rev-parse -q --verify HEAD >/dev/null").c_str()) == 0) {
      meta_.base_commit = Git("rev-parse HEAD");
    }
    meta_.base_ref = "refs/heads/main";
    ASSERT_TRUE(workspace::WriteMeta(dir_, meta_, true));
  }
  static PublishRequest Request() {
    PublishRequest request;
    request.message = "do it\n\nbecause\n\n";
    request.author_name = "User";
    request.author_email = "user@example.org";
    return request;
  }
  Result<Published> Publish(const PublishRequest& request) {
    git::Repo repo = *git::Repo::Open(meta_.git_dir);
    PublishContext context{state_, dir_, meta_, repo, step_};
    Result<PreparedPublish> prepared = PreparePublish(context, request);
    if (!prepared) return std::unexpected(prepared.error());
    last_ = prepared->selection;
    for (Named& one : last_.refused) refused_.push_back(one.path + " " + one.rule);
    return CommitPublish(context, *prepared, request);
  }
  static std::string Why(const auto& result) { return result ? "" : result.error().message; }

  Selection last_;
  std::vector<std::string> refused_;
};

}  // namespace bawn::publish
