// contain/test_child.h
// For unit tests only: runs something irreversible in a forked child and reports by exit status.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/result.h"
#include "sys/processes.h"

namespace bawn::contain {

// The child's wait(2) status; `body` returns its exit code. Assertions inside do not reach the
// parent: return a distinct number per failing step.
inline int RunInChild(const std::function<int()>& body) {
  sys::Child child = sys::Clone3(0).value();
  if (child.pid == 0) _exit(body());
  bool ended = false;
  return sys::WaitPidfd(child.pidfd.get(), true, &ended).value().status;
}

// The same for bodies that must end by themselves; a signal gives 1000 + signal.
inline int ExitOf(const std::function<int()>& body) {
  int status = RunInChild(body);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// A directory of its own, removed at the end; tests keep it flat or clean up themselves.
class TempDir {
 public:
  TempDir() {
    std::string pattern = "/tmp/bawn_contain_XXXXXX";
    BAWN_ASSERT(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    for (const char* suffix : {"/a/f", "/b/f", "/a/g", "/a", "/b", "/f", "/s"}) {
      std::string name = path_ + suffix;
      if (unlink(name.c_str()) != 0) rmdir(name.c_str());
    }
    rmdir(path_.c_str());
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace bawn::contain
