// Shared by this room's tests: a temporary directory, shell set-up with a clean git environment.
// No test depends on the caller's own git configuration.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "sys/files.h"
#include "sys/processes.h"
#include "sys/sockets.h"

namespace bawn::workspace {

class TempTree {
 public:
  TempTree() {
    std::string pattern = testing::TempDir() + "/workspace_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    path_ = *sys::Readlinkat(
        AT_FDCWD, "/proc/self/fd/" + std::to_string(sys::OpenDir(AT_FDCWD, pattern)->get()));
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() { Shell("chmod -R u+rwX . 2>/dev/null; rm -rf '" + path_ + "'"); }

  const std::string& path() const { return path_; }

  // Runs `script` with sh -e in the tree; returns its output. HOME is `<tree>/home`. A failing
  // script fails the test.
  std::string Shell(const std::string& script) const {
    auto pipe = std::move(*sys::Pipe());
    UniqueFd shell = *sys::Openat2(AT_FDCWD, "/bin/sh", O_RDONLY);
    UniqueFd nothing = *sys::Openat2(AT_FDCWD, "/dev/null", O_RDONLY);
    sys::SpawnSpec spec;
    spec.program_fd = shell.get();
    spec.argv = {"sh", "-ec", "cd '" + path_ + "'\n" + script};
    spec.envp = {"PATH=/usr/bin:/bin:/usr/sbin:/sbin",
                 "HOME=" + path_ + "/home",
                 "LC_ALL=C",
                 "GIT_CONFIG_NOSYSTEM=1",
                 "GIT_AUTHOR_DATE=2026-01-02 03:04:05 +0000",
                 "GIT_COMMITTER_DATE=2026-01-02 03:04:05 +0000"};
    spec.fds = {nothing.get(), pipe.second.get(), pipe.second.get()};
    sys::Child child = std::move(*sys::Spawn(spec));
    pipe.second.Reset();
    std::string output = *sys::ReadAll(pipe.first.get(), 256 << 20);
    bool ended = false;
    EXPECT_EQ(sys::WaitPidfd(child.pidfd.get(), true, &ended)->status, 0) << script << "\n"
                                                                          << output;
    return output;
  }
  // The same without the trailing newline.
  std::string Line(const std::string& script) const {
    std::string output = Shell(script);
    while (output.ends_with('\n')) output.pop_back();
    return output;
  }

 private:
  std::string path_;
};

}  // namespace bawn::workspace
