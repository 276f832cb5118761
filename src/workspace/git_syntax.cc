#include "workspace/git_syntax.h"

#include <algorithm>

namespace bawn::workspace {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsAlnum(char c) { return IsAlpha(c) || (c >= '0' && c <= '9'); }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string NormalizeConfigKey(std::string_view key) {
  size_t first = key.find('.'), last = key.rfind('.');
  if (first == std::string_view::npos || first == 0 || last + 1 == key.size()) return {};
  std::string out(key);
  for (size_t i = 0; i < out.size(); ++i) {
    if (i >= first && i <= last) continue;
    if (!IsAlnum(out[i]) && out[i] != '-') return {};
    if (i == last + 1 && !IsAlpha(out[i])) return {};
    out[i] = Lower(out[i]);
  }
  return out.find('\n') == std::string::npos ? out : std::string();
}

std::optional<bool> ConfigBool(const std::optional<std::string>& value) {
  if (!value) return true;
  std::string word = *value;
  std::transform(word.begin(), word.end(), word.begin(), Lower);
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word.empty() || word == "false" || word == "no" || word == "off") return false;
  bool number = word.find_first_not_of("0123456789", word[0] == '-' ? 1 : 0) == std::string::npos;
  if (!number || word == "-") return std::nullopt;
  return word.find_first_not_of("-0") != std::string::npos;
}

std::optional<std::string> UnquoteC(std::string_view text, size_t* end) {
  if (!text.starts_with('"')) return std::nullopt;
  constexpr std::string_view kLetters = "abfnrtv\"\\", kBytes = "\a\b\f\n\r\t\v\"\\";
  std::string out;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      *end = i + 1;
      return out;
    }
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (size_t at = kLetters.find(text[i]); at != std::string_view::npos) {
      out += kBytes[at];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    int byte = 0;
    for (size_t k = i; k < i + 3; ++k) {
      if (text[k] < '0' || text[k] > '7') return std::nullopt;
      byte = byte * 8 + (text[k] - '0');
    }
    if (byte > 255) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return std::nullopt;
}

bool IsSafeRefName(std::string_view name) {
  if (!name.starts_with("refs/") || name.size() > 1024 || name.ends_with('/') ||
      name.ends_with('.') || name.find("..") != std::string_view::npos ||
      name.find("//") != std::string_view::npos || name.find("/.") != std::string_view::npos ||
      name.find("@{") != std::string_view::npos || name.find(".lock/") != std::string_view::npos ||
      name.ends_with(".lock")) {
    return false;
  }
  return std::none_of(name.begin(), name.end(), [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7F || std::string_view("~^:?*[\\").contains(c);
  });
}

bool IsObjectName(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace bawn::workspace
