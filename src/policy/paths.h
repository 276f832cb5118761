// policy/paths.h
// Paths as text: nothing here looks at the machine. A clean path is absolute, without "..", ".",
// empty components or a trailing slash (but "/" itself), and holds no NUL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bawn::policy {

inline constexpr size_t kPathBytesMax = 4095;

// "~" and "~/x" become `home` and home/x; then the path is cleaned. kInvalidArgument for a relative
// path, "..", NUL, more than kPathBytesMax bytes, or "~" without a home.
Result<std::string> CleanPath(std::string_view path, std::string_view home);

std::string Join(std::string_view directory, std::string_view relative);

// All take clean paths.
bool IsBelow(std::string_view path, std::string_view ancestor);  // strictly
bool IsAtOrBelow(std::string_view path, std::string_view ancestor);
bool Overlaps(std::string_view a, std::string_view b);  // equal, or one is below the other
std::string ParentOf(std::string_view path);            // "/" for "/" and "/x"

// The clean path a symlink at `link` leads to; empty when `target` leaves the root or is no path.
std::string ResolveLink(std::string_view link, std::string_view target);

// Glob of one component: "*" is any run of bytes, "?" one byte. No classes, no escapes.
bool MatchGlob(std::string_view pattern, std::string_view text);

}  // namespace bawn::policy
