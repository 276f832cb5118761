// Shared by this room's tests: a temporary directory, shell set-up with a clean git environment.
// No test depends on the caller's own git configuration.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "sys/files.h"

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
    std::string command =
        "cd '" + path_ + "' && env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME='" + path_ +
        "/home' LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2026-01-02 03:04:05 +0000' "
        "GIT_COMMITTER_DATE='2026-01-02 03:04:05 +0000' sh -e 2>&1 <<'END_OF_SCRIPT'\n" +
        script + "\nEND_OF_SCRIPT\n";
    FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
    std::string output;
    for (int c = 0; pipe != nullptr && (c = fgetc(pipe)) != EOF;) output += static_cast<char>(c);
    int status = pipe != nullptr ? pclose(pipe) : -1;
    EXPECT_EQ(status, 0) << script << "\n" << output;
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
