// git/pattern.h
// One pattern of gitignore(5) or gitattributes(5) and whether it matches a path. Pure.
// Follows git's wildmatch and its two match modes (a pattern without a slash looks at the last
// component only), in time bounded by pattern length * path length whatever the pattern says.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bawn::git {

struct Pattern {
  std::string text;           // without the leading '!' and the trailing '/'
  size_t literal_prefix = 0;  // bytes before the first of * ? [ backslash
  bool negative = false;
  bool must_be_directory = false;
  bool base_name_only = false;  // no slash inside
};

Pattern ParsePattern(std::string_view text);

// `directory`: where the rule file stands, "" for the top. `path` is relative to the top, without a
// trailing slash. must_be_directory is the caller's to judge.
bool Matches(const Pattern& pattern, std::string_view directory, std::string_view path,
             bool ignore_case);

// wildmatch itself; `slashes` true: * and ? stop at '/', ** between slashes does not.
bool WildMatch(std::string_view pattern, std::string_view text, bool slashes, bool ignore_case);

}  // namespace bawn::git
