// workspace/wildmatch.h
// Patterns as git matches them (wildmatch.c, WM_PATHNAME): '*' and '?' stop at '/', "**/" and "/**"
// span directories, [...] is a class. Pure.
#pragma once

#include <string_view>

namespace bawn::workspace {

// Recursion is bounded by the number of stars; both texts come from the trusted side.
bool WildMatch(std::string_view pattern, std::string_view text, bool fold_case = false);

}  // namespace bawn::workspace
