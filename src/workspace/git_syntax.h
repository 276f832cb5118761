// workspace/git_syntax.h
// The text forms of git's own files: config syntax, quoted strings, ref names. Pure: bytes in,
// values out. Source: git-config(1) "Syntax", git-check-ref-format(1), gitrepository-layout(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bawn::workspace {

struct ConfigEntry {
  std::string key;  // "section.key" or "section.Sub Section.key"; section and key in lower case
  std::optional<std::string> value;  // absent: the key stands alone, which means true
};

// A whole config file. Like git, a malformed line makes the whole file an error that names `file`
// and the line; nothing is skipped in silence.
inline constexpr size_t kConfigEntriesMax = 100'000;
Result<std::vector<ConfigEntry>> ParseConfigText(std::string_view text, std::string_view file);

// Lower-cases section and key, keeps the subsection; empty when `key` has no dot or a bad letter.
std::string NormalizeConfigKey(std::string_view key);

// git's words for a boolean; absent when it is none of them. No value at all is true.
std::optional<bool> ConfigBool(const std::optional<std::string>& value);

// `"..."` with C escapes as git writes unusual names (quote.c); `end` is set behind the quote.
std::optional<std::string> UnquoteC(std::string_view text, size_t* end);

// May the name be a ref, a line of packed-refs and a path below a git directory?
bool IsSafeRefName(std::string_view name);

// 40 or 64 lower-case hex digits.
bool IsObjectName(std::string_view text);

// Splits at '\n', without the empty piece after a final one.
std::vector<std::string_view> Lines(std::string_view text);
std::string_view TrimRight(std::string_view text);  // white space

}  // namespace bawn::workspace
