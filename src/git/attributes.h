// git/attributes.h
// The lines of one gitattributes(5) file and the attributes a stack of such files gives a path.
// Pure. Own code because libgit2 1.5 reads the work tree's files beside the commit's, and knows
// neither quoted patterns nor git's rule for macros below the top.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "git/pattern.h"

namespace bawn::git {

// "name" is kTrue, "-name" kFalse, "!name" or never mentioned kUnspecified, else the text after
// '='.
enum class AttributeState : uint8_t { kUnspecified, kTrue, kFalse };
using AttributeValue = std::variant<AttributeState, std::string>;

struct AttributeLine {
  Pattern pattern;
  std::string macro;  // "[attr]macro …": then the pattern is unused
  std::vector<std::pair<std::string, AttributeValue>> states;
};
using AttributeFile = std::vector<AttributeLine>;

// `macros`: whether the file may define some (top level, info/attributes and the user's own).
AttributeFile ParseAttributeFile(std::string_view text, bool macros);

struct AttributeSource {
  const AttributeFile* file;
  std::string_view directory;
};
// Strongest source first. All names that any matching line mentions.
std::map<std::string, AttributeValue> AttributesOf(const std::vector<AttributeSource>& sources,
                                                   std::string_view path, bool ignore_case);

}  // namespace bawn::git
