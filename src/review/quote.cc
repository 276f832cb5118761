#include "review/quote.h"

namespace bawn::review {

std::string QuoteName(std::string_view prefix, std::string_view path) {
  std::string out(prefix);
  bool quoted = false;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view kSpecial = "\a\b\t\n\v\f\r\"\\", kLetters = "abtnvfr\"\\";
    if (const size_t at = kSpecial.find(c); at != std::string_view::npos) {
      out += '\\';
      out += kLetters[at];
      quoted = true;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += '\\';
      for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
      quoted = true;
    } else {
      out += c;
    }
  }
  return quoted ? '"' + out + '"' : out;
}

}  // namespace bawn::review
