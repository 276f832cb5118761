#include "policy/paths.h"

#include "base/text.h"

namespace bawn::policy {
namespace {

// Appends the components of `text` to `parts`; ".." pops when `pop` is set and fails otherwise.
bool AppendComponents(std::string_view text, bool pop, std::vector<std::string_view>* parts) {
  while (!text.empty()) {
    size_t slash = text.find('/');
    std::string_view part = text.substr(0, slash);
    text.remove_prefix(slash == std::string_view::npos ? text.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts->push_back(part);
    } else if (pop && !parts->empty()) {
      parts->pop_back();
    } else {
      return false;
    }
  }
  return true;
}

std::string Assemble(const std::vector<std::string_view>& parts) {
  std::string path;
  for (std::string_view part : parts) path.append("/").append(part);
  return path.empty() ? "/" : path;
}

}  // namespace

Result<std::string> CleanPath(std::string_view path, std::string_view home) {
  std::string shown = EscapeName(path);
  std::vector<std::string_view> parts;
  std::string_view rest = path;
  if (path == "~" || path.starts_with("~/")) {
    if (home.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "'" + shown + "': the user has no home directory",
                  "write the path from / on");
    }
    AppendComponents(home, false, &parts);
    rest = path.substr(1);
  } else if (!path.starts_with('/')) {
    return Fail(ErrorCode::kInvalidArgument, "'" + shown + "' is not an absolute path",
                "write the path from / on, or from ~/ on");
  }
  if (path.size() > kPathBytesMax || path.find('\0') != std::string_view::npos) {
    return Fail(ErrorCode::kInvalidArgument, "'" + shown.substr(0, 80) + "' is no possible path");
  }
  if (!AppendComponents(rest, false, &parts)) {
    return Fail(ErrorCode::kInvalidArgument, "'" + shown + "' contains '..'",
                "write the path it means");
  }
  return Assemble(parts);
}

std::string Join(std::string_view directory, std::string_view relative) {
  std::string path(directory);
  if (!path.ends_with('/')) path += '/';
  return path.append(relative);
}

bool IsBelow(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") return path.size() > 1;
  return path.size() > ancestor.size() && path.starts_with(ancestor) &&
         path[ancestor.size()] == '/';
}

bool IsAtOrBelow(std::string_view path, std::string_view ancestor) {
  return path == ancestor || IsBelow(path, ancestor);
}

bool Overlaps(std::string_view a, std::string_view b) { return IsAtOrBelow(a, b) || IsBelow(b, a); }

std::string ParentOf(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

std::string ResolveLink(std::string_view link, std::string_view target) {
  if (target.empty() || target.size() > kPathBytesMax) return {};
  std::vector<std::string_view> parts;
  std::string parent = ParentOf(link);
  if (!target.starts_with('/')) AppendComponents(parent, false, &parts);
  if (!AppendComponents(target, true, &parts)) return {};
  return Assemble(parts);
}

bool MatchGlob(std::string_view pattern, std::string_view text) {
  // The last "*" seen is retried one byte further on each mismatch: linear in practice, no
  // recursion.
  size_t p = 0, t = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace bawn::policy
