// git/test_repo.h
// For tests only: a temporary repository driven by the real git, whose configuration is the test's
// alone. Header-only, so that the tests of other rooms can use it too.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "git/repo.h"
#include "sys/files.h"
#include "sys/processes.h"

namespace bawn::git {

class TestRepo {
 public:
  // `home` is set before libgit2 starts, so that both programs read the same user's config.
  TestRepo() {
    root_ = testing::TempDir() + "/git_XXXXXX";
    if (mkdtemp(root_.data()) == nullptr) abort();
    root_ = Real(root_);
    Shell("mkdir tree");
    static const std::string kHome = [] {
      std::string home = testing::TempDir() + "/home_absent";
      setenv("HOME", home.c_str(), 1);
      unsetenv("XDG_CONFIG_HOME");
      setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
      setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
      for (const char* who : {"AUTHOR", "COMMITTER"}) {
        setenv((std::string("GIT_") + who + "_NAME").c_str(), "Test", 1);
        setenv((std::string("GIT_") + who + "_EMAIL").c_str(), "test@example.org", 1);
      }
      InitGit();
      return home;
    }();
    Git("init -q -b main");
  }
  TestRepo(const TestRepo&) = delete;
  TestRepo& operator=(const TestRepo&) = delete;
  ~TestRepo() { Run("chmod -R u+rwX '" + root_ + "'; rm -rf '" + root_ + "'"); }

  const std::string& root() const { return root_; }
  std::string tree() const { return root_ + "/tree"; }
  std::string git_dir() const { return tree() + "/.git"; }

  // Runs in the temporary directory; the test fails when it exits with something else than `exit`.
  std::string Shell(const std::string& command, int exit = 0) const {
    std::string out;
    const int status = Run("cd '" + root_ + "' && { " + command + "\n}", &out);
    EXPECT_EQ(status, exit << 8) << command;
    return out;
  }
  std::string Git(const std::string& arguments, int exit = 0) const {
    return Shell("git -C tree " + arguments, exit);
  }
  std::string Line(const std::string& arguments) const {
    std::string out = Git(arguments);
    while (out.ends_with('\n')) out.pop_back();
    return out;
  }

  // Also where git itself would not open the repository any more.
  void Config(const std::string& key, const std::string& value) const {
    Shell("git config --file tree/.git/config " + key + " '" + value + "'");
  }

  // Makes the directories on the way.
  void Write(const std::string& path, std::string_view bytes) const {
    WriteIn(tree(), path, bytes);
  }
  static void WriteIn(const std::string& top, const std::string& path, std::string_view bytes) {
    const std::string whole = top + "/" + path;
    if (const size_t slash = path.rfind('/'); slash != std::string::npos) {
      const auto dir = sys::OpenDir(AT_FDCWD, top);
      ASSERT_TRUE(dir && sys::MakeDirs(dir->get(), path.substr(0, slash), 0755));
    }
    const int fd = open(whole.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ASSERT_GE(fd, 0) << whole;
    const UniqueFd owner(fd);
    ASSERT_TRUE(sys::WriteAll(fd, bytes));
  }
  std::string Read(const std::string& path) const {
    return sys::ReadFileAt(AT_FDCWD, tree() + "/" + path, 1 << 30).value_or("<unreadable>");
  }
  // Everything in the tree, also what is ignored; the new commit's id.
  std::string CommitAll(const std::string& message = "commit") const {
    Git("add -A -f .");
    Git("commit -q --allow-empty -m '" + message + "'");
    return Line("rev-parse HEAD");
  }
  // path -> {mode, oid} of the index.
  std::map<std::string, std::pair<std::string, std::string>> Index() const {
    std::map<std::string, std::pair<std::string, std::string>> entries;
    const std::string out = Git("ls-files -s -z");
    for (size_t at = 0; at < out.size();) {
      const size_t end = out.find('\0', at);
      const std::string line = out.substr(at, end - at);
      entries[line.substr(line.find('\t') + 1)] = {line.substr(0, 6), line.substr(7, 40)};
      at = end + 1;
    }
    return entries;
  }

  Repo Open() const {
    auto repo = Repo::Open(git_dir());
    if (!repo) {
      ADD_FAILURE() << repo.error().message;
      abort();
    }
    return *std::move(repo);
  }

 private:
  // Returns the status of wait(2); what it wrote to stdout in `*out`.
  static int Run(const std::string& command, std::string* out = nullptr) {
    const UniqueFd shell = *sys::Openat2(AT_FDCWD, "/bin/sh", O_RDONLY);
    const UniqueFd null = *sys::Openat2(AT_FDCWD, "/dev/null", O_RDWR);
    const UniqueFd output = *sys::Memfd("output");
    sys::SpawnSpec spec;
    spec.program_fd = shell.get();
    spec.argv = {"sh", "-c", command};
    for (char** variable = environ; *variable != nullptr; ++variable) {
      spec.envp.emplace_back(*variable);
    }
    spec.fds = {null.get(), output.get(), STDERR_FILENO};
    const sys::Child child = *sys::Spawn(spec);
    bool ended = false;
    const sys::Exit exit = *sys::WaitPidfd(child.pidfd.get(), /*wait=*/true, &ended);
    if (out != nullptr) {
      lseek(output.get(), 0, SEEK_SET);
      *out = *sys::ReadAll(output.get(), 1 << 30);
    }
    return exit.status;
  }
  static std::string Real(const std::string& path) {
    char* real = realpath(path.c_str(), nullptr);
    std::string result = real;
    free(real);  // NOLINT
    return result;
  }
  std::string root_;
};

}  // namespace bawn::git
