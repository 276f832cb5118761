// policy/protected.h
// The protected paths and names (view/protected_table.h), expanded for one home. Pure.
// The caller hands ProtectedPaths() and ProtectedNames() to workspace::OpenLive, which may not
// include this room.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/view/protected_table.h"

namespace bawn::policy {

// Absolute and sorted. `environment` ("NAME=value") adds Bawn's own directories where they were
// moved: BAWN_STATE_DIR, XDG_STATE_HOME, XDG_CONFIG_HOME, XDG_RUNTIME_DIR.
std::vector<std::string> ProtectedPaths(std::string_view home,
                                        const std::vector<std::string>& environment = {});

// Globs for the last component of a path inside a workspace, in order: a later match wins, and one
// that starts with "!" keeps the file. Tracked files keep their content whatever their name (E-03).
std::vector<std::string> ProtectedNames();
bool IsProtectedName(std::string_view name);  // one component

struct ProtectedMatch {
  std::string path;  // the row's path, absolute
  Protection protection = Protection::kNever;
  std::string_view what;
  bool own = false;    // Bawn's own directories
  bool moved = false;  // named by the environment, not by the table: taken to exist
};

// The longest row at or above `path` (clean); else nothing.
std::optional<ProtectedMatch> FindProtected(std::string_view path, std::string_view home,
                                            const std::vector<std::string>& environment);

// Rows strictly below `path`, kPlain left out.
std::vector<ProtectedMatch> ProtectedBelow(std::string_view path, std::string_view home,
                                           const std::vector<std::string>& environment);

}  // namespace bawn::policy
