// base/text.h
// Bytes from outside made safe to show. Names and content are bytes; these are the only ways out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn {

bool IsValidUtf8(std::string_view bytes);

// The reversible escape of DESIGN 8: valid UTF-8 text with `\\` for a backslash and `\xNN` for
// every other byte that is not printable text (controls, DEL, C1, bidi and zero-width characters,
// invalid sequences). The same in every --json and on a terminal.
std::string EscapeName(std::string_view bytes);
std::optional<std::string> UnescapeName(std::string_view text);

// For content on a terminal: as EscapeName, but newline and tab stay, and a backslash is not
// doubled.
std::string TerminalSafe(std::string_view bytes);

// "1.5 GiB", "312 B".
std::string FormatBytes(uint64_t bytes);

// The nearest of `candidates` to `word` (edit distance <= 2 and < half the word), for "did you
// mean".
std::string Nearest(std::string_view word, const std::vector<std::string_view>& candidates);

std::string ToHex(std::string_view bytes);
std::string ToBase64(std::string_view bytes);

}  // namespace bawn
