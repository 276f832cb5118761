#include "policy/protected.h"

#include <algorithm>

#include "policy/paths.h"

namespace bawn::policy {
namespace {

constexpr std::string_view kOwn = "Bawn's own state";

struct Moved {
  std::string_view variable;
  std::string_view below;  // empty: the variable's directory itself
};
constexpr Moved kMovedDirectories[] = {
    {"BAWN_STATE_DIR", ""},
    {"XDG_STATE_HOME", "bawn"},
    {"XDG_CONFIG_HOME", "bawn"},
    {"XDG_RUNTIME_DIR", "bawn"},
};

std::string_view ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return std::string_view(entry).substr(name.size() + 1);
    }
  }
  return {};
}

// A row's path without putting it together: these run on every start, for every directory shown.
struct RowPath {
  std::string_view directory;  // the home, or empty when `rest` is absolute
  std::string_view rest;

  std::string Text() const { return directory.empty() ? std::string(rest) : Join(directory, rest); }
  size_t size() const {
    return directory.empty() ? rest.size() : directory.size() + 1 + rest.size();
  }
  bool IsBelow(std::string_view path) const {
    if (directory.empty()) return policy::IsBelow(rest, path);
    if (IsAtOrBelow(directory, path)) return true;
    return policy::IsBelow(path, directory) &&
           policy::IsBelow(rest, path.substr(directory.size() + 1));
  }
  bool IsAtOrAbove(std::string_view path) const {
    if (directory.empty()) return IsAtOrBelow(path, rest);
    return policy::IsBelow(path, directory) && IsAtOrBelow(path.substr(directory.size() + 1), rest);
  }
};

struct Row {
  RowPath path;
  Protection protection = Protection::kNever;
  std::string_view what;
  bool moved = false;

  ProtectedMatch Match() const {
    return {path.Text(), protection, what, what.starts_with(kOwn), moved};
  }
};

// Calls `use` with every row for this home, then with Bawn's own directories where they were moved.
template <class Use>
void ForEachProtected(std::string_view home, const std::vector<std::string>& environment,
                      const Use& use) {
  for (const ProtectedRow& row : kProtectedTable) {
    bool absolute = row.path.starts_with('/');
    if (!absolute && home.empty()) continue;
    use(Row{{absolute ? std::string_view() : home, row.path}, row.protection, row.what, false});
  }
  for (const Moved& moved : kMovedDirectories) {
    Result<std::string> path = CleanPath(ValueOf(environment, moved.variable), home);
    if (!path) continue;  // unset, or no path
    std::string own = moved.below.empty() ? *path : Join(*path, moved.below);
    use(Row{{{}, own}, Protection::kNever, kOwn, true});
  }
}

}  // namespace

std::vector<std::string> ProtectedPaths(std::string_view home,
                                        const std::vector<std::string>& environment) {
  std::vector<std::string> paths;
  ForEachProtected(home, environment, [&](const Row& row) {
    if (row.protection != Protection::kPlain) paths.push_back(row.path.Text());
  });
  std::ranges::sort(paths);
  auto duplicates = std::ranges::unique(paths);
  paths.erase(duplicates.begin(), duplicates.end());
  return paths;
}

std::vector<std::string> ProtectedNames() {
  return {std::begin(kProtectedNames), std::end(kProtectedNames)};
}

bool IsProtectedName(std::string_view name) {
  bool is_protected = false;
  for (std::string_view pattern : kProtectedNames) {
    bool keeps = pattern.starts_with('!');
    if (MatchGlob(keeps ? pattern.substr(1) : pattern, name)) is_protected = !keeps;
  }
  return is_protected;
}

std::optional<ProtectedMatch> FindProtected(std::string_view path, std::string_view home,
                                            const std::vector<std::string>& environment) {
  std::optional<ProtectedMatch> best;
  ForEachProtected(home, environment, [&](const Row& row) {
    if (!row.path.IsAtOrAbove(path) || (best && best->path.size() >= row.path.size())) return;
    best = row.Match();
  });
  return best;
}

std::vector<ProtectedMatch> ProtectedBelow(std::string_view path, std::string_view home,
                                           const std::vector<std::string>& environment) {
  std::vector<ProtectedMatch> below;
  ForEachProtected(home, environment, [&](const Row& row) {
    if (row.protection == Protection::kPlain || !row.path.IsBelow(path)) return;
    below.push_back(row.Match());
  });
  std::ranges::sort(below, {}, &ProtectedMatch::path);
  return below;
}

}  // namespace bawn::policy
