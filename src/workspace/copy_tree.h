// workspace/copy_tree.h
// The copy rungs: a tree copied file by file, reflinked where the file system can, with permission
// bits and modification times, so that git inside finds its index true (E-13). Ownership becomes
// the caller's; setuid, setgid and sticky bits are dropped; sockets, FIFOs and devices stay behind.
// Hard links become files of their own.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.h"

namespace bawn::workspace {

inline constexpr int kCopyDepthMax = 400;  // each level holds two descriptors

struct CopyOptions {
  uint64_t bytes_max = 0;  // of bytes really copied: a reflink takes none
  uint64_t entries_max = 0;
  std::unordered_set<std::string> skip;  // relative paths that are not copied
};

struct CopyReport {
  uint64_t entries = 0, bytes = 0;
  bool any_plain = false;               // some file's bytes were copied
  std::vector<std::string> unreadable;  // files and directories that may not be read
  std::vector<std::string> special;     // sockets, FIFOs, devices
};

// Copies what is below `from` into `to`, both directories; existing directories are filled. More
// than an option allows is kResourceExhausted.
Result<CopyReport> CopyTree(int from, int to, const CopyOptions& options);

}  // namespace bawn::workspace
