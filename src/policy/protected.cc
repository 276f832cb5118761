#include "policy/protected.h"

#include <algorithm>

#include "policy/paths.h"

namespace bawn::policy {
namespace {

constexpr std::string_view kOwn = "Bawn's own";

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

std::string Expand(std::string_view row, std::string_view home) {
  if (row.starts_with('/')) return std::string(row);
  return home.empty() ? std::string() : Join(home, row);
}

// Calls `use` with every row, expanded, and every moved directory of Bawn's own.
template <class Use>
void ForEachProtected(std::string_view home, const std::vector<std::string>& environment,
                      const Use& use) {
  for (const ProtectedRow& row : kProtectedTable) {
    std::string path = Expand(row.path, home);
    bool own = row.what.starts_with(kOwn);
    if (!path.empty()) use(ProtectedMatch{std::move(path), row.protection, row.what, own, false});
  }
  for (const Moved& moved : kMovedDirectories) {
    Result<std::string> path = CleanPath(ValueOf(environment, moved.variable), home);
    if (!path) continue;  // unset, or no path
    use(ProtectedMatch{moved.below.empty() ? *path : Join(*path, moved.below), Protection::kNever,
                       "Bawn's own state", true, true});
  }
}

}  // namespace

std::vector<std::string> ProtectedPaths(std::string_view home,
                                        const std::vector<std::string>& environment) {
  std::vector<std::string> paths;
  ForEachProtected(home, environment, [&](ProtectedMatch row) {
    if (row.protection != Protection::kPlain) paths.push_back(std::move(row.path));
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
  ForEachProtected(home, environment, [&](ProtectedMatch row) {
    if (!IsAtOrBelow(path, row.path) || (best && best->path.size() >= row.path.size())) return;
    best = std::move(row);
  });
  return best;
}

std::vector<ProtectedMatch> ProtectedBelow(std::string_view path, std::string_view home,
                                           const std::vector<std::string>& environment) {
  std::vector<ProtectedMatch> below;
  ForEachProtected(home, environment, [&](ProtectedMatch row) {
    if (row.protection == Protection::kPlain || !IsBelow(row.path, path)) return;
    below.push_back(std::move(row));
  });
  std::ranges::sort(below, {}, &ProtectedMatch::path);
  return below;
}

}  // namespace bawn::policy
