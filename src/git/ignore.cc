#include "git/ignore.h"

#include <ranges>

namespace bawn::git {
namespace {

// Trailing spaces go unless a backslash quotes them; a lone backslash at the end keeps all.
std::string_view WithoutTrailingSpaces(std::string_view line) {
  size_t spaces = std::string_view::npos;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ') {
      if (spaces == std::string_view::npos) spaces = i;
      continue;
    }
    if (line[i] == '\\') {
      ++i;
      if (i == line.size()) return line;
    }
    spaces = std::string_view::npos;
  }
  return line.substr(0, spaces);
}

}  // namespace

IgnoreFile ParseIgnoreFile(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  IgnoreFile file;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('\0'));  // git works on C strings
    if (line.empty() || line.front() == '#') continue;
    if (line.ends_with('\r')) line.remove_suffix(1);
    file.push_back(ParsePattern(WithoutTrailingSpaces(line)));
  }
  return file;
}

std::optional<bool> IgnoreVerdict(const IgnoreFile& file, std::string_view directory,
                                  std::string_view path, bool is_directory, bool ignore_case) {
  for (const Pattern& pattern : std::ranges::reverse_view(file)) {
    if (pattern.must_be_directory && !is_directory) continue;
    if (Matches(pattern, directory, path, ignore_case)) return !pattern.negative;
  }
  return std::nullopt;
}

}  // namespace bawn::git
