// workspace/scan.h
// A bounded look at the user's tree before the run: protected names, nested git repositories and
// foreign owners. Breadth first, so what lies near the top is always seen. What the budget did not
// reach is said, not guessed: a protected name deeper down is visible inside (SECURITY, "covers").
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bawn::workspace {

// Reading a directory costs about 250 ns an entry in the kernel (ext4), so this is 0.5 ms: half of
// what opening a large tree may cost above a small one.
inline constexpr size_t kScanDirectoriesMax = 64;
inline constexpr size_t kScanEntriesMax = 2048;

// Globs on the last component; a later match wins, "!" keeps the file (policy/protected.h).
class NameRules {
 public:
  explicit NameRules(const std::vector<std::string>& patterns);
  bool Protects(std::string_view name) const;

 private:
  enum class Shape : uint8_t { kExact, kPrefix, kSuffix, kGlob };
  struct Rule {
    Shape shape = Shape::kGlob;
    bool keeps = false;
    std::string text;
  };
  std::vector<Rule> rules_;
  // A name can only be protected when its first or its last byte is in here: few names are.
  std::bitset<256> first_, last_;
};

struct ScanResult {
  std::vector<std::string> candidates;  // relative paths of regular files with protected names
  std::vector<std::string> nested;      // relative directories below the top that hold a `.git`
  std::string foreign;                  // first path whose owner or group is not ours; else empty
  uint32_t foreign_uid = 0, foreign_gid = 0;
  size_t directories = 0, entries = 0;  // looked at
  bool complete = true;                 // the budget reached everything but the skipped names
};

// Directories named .git, node_modules, target, build, .venv and kin are not entered. Symlinks are
// not followed, other mounts not crossed. `root_fd`: the tree; uid, gid: the ids that are mapped.
Result<ScanResult> ScanTree(int root_fd, const NameRules& rules, uint32_t uid, uint32_t gid);

}  // namespace bawn::workspace
