// workspace/initial.h
// The layer that Bawn itself puts over the user's tree: `<sandbox>/initial`. Directories on the way
// to what it holds look like the user's (mode, time), since an overlay shows the topmost one's.
// Nothing in it is ever a change.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files.h"

namespace bawn::workspace {

class InitialLayer {
 public:
  // Borrows both: the user's tree and the sandbox's directory, where `initial` is made when the
  // first thing is put into it.
  InitialLayer(int root_fd, int sandbox_fd) : root_fd_(root_fd), sandbox_fd_(sandbox_fd) {}

  // An empty directory at `path` that hides what the tree has there, opened.
  Result<UniqueFd> HideDirectory(const std::string& path);
  // An empty file with the mode and time of the one it hides.
  Result<> HideFile(const std::string& path);
  // Something else hides what the tree has at `path`.
  void NoteReplaced(const std::string& path) { replaced_.insert(path); }
  bool used() const { return initial_.valid(); }
  // Gives the directories on the way the look of the user's. Last.
  Result<> Finish();

  // What stands in for something of the tree: a copy of the tree leaves these out.
  const std::unordered_set<std::string>& replaced() const { return replaced_; }

 private:
  Result<> MakeParents(const std::string& path);

  int root_fd_;
  int sandbox_fd_;
  UniqueFd initial_;
  std::unordered_set<std::string> replaced_;
  std::unordered_set<std::string> made_;
  std::vector<std::string> parents_;  // in the order made: parents first
};

}  // namespace bawn::workspace
