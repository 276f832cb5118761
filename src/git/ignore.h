// git/ignore.h
// The lines of one ignore file, parsed as gitignore(5) says, and what they say of a path. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "git/pattern.h"

namespace bawn::git {

using IgnoreFile = std::vector<Pattern>;

IgnoreFile ParseIgnoreFile(std::string_view text);

// true: ignored, false: re-included by '!', absent: no line matches. The last match decides.
std::optional<bool> IgnoreVerdict(const IgnoreFile& file, std::string_view directory,
                                  std::string_view path, bool is_directory, bool ignore_case);

}  // namespace bawn::git
