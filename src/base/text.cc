#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace bawn {
namespace {

// Length of the valid UTF-8 sequence at the start of `s` (RFC 3629: no overlong forms, no
// surrogates, at most U+10FFFF), 0 when there is none. Sets `code_point`.
size_t Utf8Length(std::string_view s, uint32_t* code_point) {
  auto at = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  auto continues = [&](size_t i) { return i < s.size() && (at(i) & 0xC0) == 0x80; };
  uint8_t lead = at(0);
  if (lead < 0x80) return *code_point = lead, 1;
  if (lead >= 0xC2 && lead <= 0xDF && continues(1)) {
    *code_point = uint32_t(lead & 0x1F) << 6 | (at(1) & 0x3F);
    return 2;
  }
  if (lead >= 0xE0 && lead <= 0xEF && continues(1) && continues(2)) {
    *code_point = uint32_t(lead & 0x0F) << 12 | uint32_t(at(1) & 0x3F) << 6 | (at(2) & 0x3F);
    bool ok = *code_point >= 0x800 && (*code_point < 0xD800 || *code_point > 0xDFFF);
    return ok ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4 && continues(1) && continues(2) && continues(3)) {
    *code_point = uint32_t(lead & 0x07) << 18 | uint32_t(at(1) & 0x3F) << 12 |
                  uint32_t(at(2) & 0x3F) << 6 | (at(3) & 0x3F);
    return *code_point >= 0x10000 && *code_point <= 0x10FFFF ? 4 : 0;
  }
  return 0;
}

// Characters that change how the text around them is shown (C0, DEL, C1, zero width, bidi controls,
// line separators, BOM, tags).
bool IsShowable(uint32_t c) {
  if (c < 0x20 || c == 0x7F || (c >= 0x80 && c <= 0x9F) || c == 0xAD) return false;
  if (c >= 0x200B && c <= 0x200F) return false;
  if (c >= 0x2028 && c <= 0x202E) return false;
  if (c >= 0x2060 && c <= 0x206F) return false;
  if (c == 0x061C || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB)) return false;
  return c < 0xE0000 || c > 0xE007F;
}

void AppendHex(std::string* out, uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  *out += "\\x";
  *out += kDigits[byte >> 4];
  *out += kDigits[byte & 15];
}

// Nearly every name: shown as it is, for names and for content.
bool IsPlain(std::string_view bytes) {
  for (char c : bytes) {
    if (c < 0x20 || c >= 0x7f || c == '\\') return false;
  }
  return true;
}

std::string Escape(std::string_view bytes, bool content) {
  if (IsPlain(bytes)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    uint32_t code_point = 0;
    size_t length = Utf8Length(bytes, &code_point);
    bool plain = length > 0 && IsShowable(code_point);
    if (content && (code_point == '\n' || code_point == '\t')) plain = length > 0;
    if (plain && !content && code_point == '\\') {
      out += "\\\\";
    } else if (plain) {
      out += bytes.substr(0, length);
    } else {
      length = std::max<size_t>(length, 1);
      for (char byte : bytes.substr(0, length)) AppendHex(&out, static_cast<uint8_t>(byte));
    }
    bytes.remove_prefix(length);
  }
  return out;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

bool IsValidUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    uint32_t code_point = 0;
    size_t length = Utf8Length(bytes, &code_point);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string EscapeName(std::string_view bytes) { return Escape(bytes, false); }
std::string TerminalSafe(std::string_view bytes) { return Escape(bytes, true); }

std::optional<std::string> UnescapeName(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      out += '\\';
      i += 1;
    } else if (i + 3 < text.size() && text[i + 1] == 'x' && HexDigit(text[i + 2]) >= 0 &&
               HexDigit(text[i + 3]) >= 0) {
      out += static_cast<char>(HexDigit(text[i + 2]) * 16 + HexDigit(text[i + 3]));
      i += 3;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::string FormatBytes(uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) value /= 1024, ++unit;
  std::array<char, 32> buffer = {};
  std::snprintf(buffer.data(), buffer.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value,
                kUnits[unit]);
  return buffer.data();
}

std::string Nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string best;
  size_t best_distance = std::min<size_t>(2, word.size() / 2) + 1;
  for (std::string_view candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j <= candidate.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= candidate.size(); ++j) {
        size_t substitute = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    if (row.back() < best_distance) best_distance = row.back(), best = candidate;
  }
  return best;
}

std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (char c : bytes) {
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

std::string ToBase64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t left = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < left ? static_cast<uint8_t>(bytes[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      out += j <= left ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

}  // namespace bawn
