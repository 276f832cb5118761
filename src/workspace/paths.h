// workspace/paths.h
// Comparisons of clean absolute paths (no "." or "..", no double slash, no trailing slash). Pure.
#pragma once

#include <string>
#include <string_view>

namespace bawn::workspace {

// Is `path` the directory or anything below it?
inline bool IsAtOrBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// The part of `path` below `directory`, "" for the directory itself.
inline std::string RelativeTo(std::string_view path, std::string_view directory) {
  if (path.size() == directory.size()) return {};
  return std::string(path.substr(directory == "/" ? 1 : directory.size() + 1));
}

inline std::string JoinPath(std::string_view directory, std::string_view name) {
  if (name.empty()) return std::string(directory);
  if (directory.empty()) return std::string(name);
  return std::string(directory) + (directory.ends_with('/') ? "" : "/") + std::string(name);
}

}  // namespace bawn::workspace
