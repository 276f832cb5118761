// review/quote.h
// Names as git writes them in a patch (git's quote.c, core.quotePath on): C-quoted when a byte
// needs it. Reversible and, since every byte outside of printable ASCII is an octal escape, safe on
// a terminal.
#pragma once

#include <string>
#include <string_view>

namespace bawn::review {

// `prefix` ("a/", "b/" or "") stands inside the quotes.
std::string QuoteName(std::string_view prefix, std::string_view path);

}  // namespace bawn::review
