#include "git/attributes.h"

#include <algorithm>
#include <optional>
#include <ranges>

namespace bawn::git {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kMacroPrefix = "[attr]";
constexpr size_t kLineBytesMax = 2048;  // git's ATTR_MAX_LINE_LENGTH

std::string_view SkipBlank(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlank), text.size()));
}

std::string_view TakeWord(std::string_view* text) {
  const std::string_view word = text->substr(0, text->find_first_of(kBlank));
  *text = SkipBlank(text->substr(word.size()));
  return word;
}

bool IsValidName(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

// A C-quoted word at the start of *text (git's quote.c); absent when it is not well formed.
std::optional<std::string> TakeQuoted(std::string_view* text) {
  std::string out;
  for (size_t i = 1; i < text->size(); ++i) {
    char c = (*text)[i];
    if (c == '"') {
      *text = SkipBlank(text->substr(i + 1));
      return out;
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    if (++i >= text->size()) return std::nullopt;
    c = (*text)[i];
    constexpr std::string_view kLetters = "abfnrtv\\\"", kMeanings = "\a\b\f\n\r\t\v\\\"";
    if (const size_t at = kLetters.find(c); at != std::string_view::npos) {
      out += kMeanings[at];
      continue;
    }
    if (c < '0' || c > '3' || i + 2 >= text->size()) return std::nullopt;
    const char second = (*text)[i + 1], third = (*text)[i + 2];
    if (second < '0' || second > '7' || third < '0' || third > '7') return std::nullopt;
    out += static_cast<char>(((c - '0') << 6) | ((second - '0') << 3) | (third - '0'));
    i += 2;
  }
  return std::nullopt;
}

std::optional<std::pair<std::string, AttributeValue>> ParseState(std::string_view word) {
  const size_t equals = word.find('=');
  std::string_view name = word.substr(0, equals);
  AttributeValue value = AttributeState::kTrue;
  if (name.starts_with('-') || name.starts_with('!')) {
    value = name.front() == '-' ? AttributeState::kFalse : AttributeState::kUnspecified;
    name.remove_prefix(1);
  } else if (equals != std::string_view::npos) {
    value = std::string(word.substr(equals + 1));
  }
  if (!IsValidName(name)) return std::nullopt;
  return std::pair(std::string(name), std::move(value));
}

std::optional<AttributeLine> ParseLine(std::string_view line, bool macros) {
  if (line.size() >= kLineBytesMax) return std::nullopt;
  std::string_view rest = SkipBlank(line);
  if (rest.empty() || rest.front() == '#') return std::nullopt;
  AttributeLine parsed;
  std::string name;
  std::optional<std::string> quoted;
  if (rest.front() == '"') quoted = TakeQuoted(&rest);
  name = quoted ? *std::move(quoted) : std::string(TakeWord(&rest));
  if (name.size() > kMacroPrefix.size() && name.starts_with(kMacroPrefix)) {
    parsed.macro = name.substr(kMacroPrefix.size());
    if (!macros || !IsValidName(parsed.macro)) return std::nullopt;
  } else {
    parsed.pattern = ParsePattern(name);
    if (parsed.pattern.negative) return std::nullopt;  // git ignores such lines with a warning
  }
  while (!rest.empty()) {
    auto state = ParseState(TakeWord(&rest));
    if (!state) return std::nullopt;  // one bad name and git drops the whole line
    parsed.states.push_back(*std::move(state));
  }
  return parsed;
}

struct Lookup {
  std::map<std::string, const AttributeLine*> macros;
  std::map<std::string, AttributeValue> found;

  // Later states of a line are stronger; whatever is known already stays.
  void Fill(const AttributeLine& line) {
    for (const auto& [name, value] : std::ranges::reverse_view(line.states)) {
      if (!found.emplace(name, value).second) continue;
      const auto* state = std::get_if<AttributeState>(&value);
      if (state == nullptr || *state != AttributeState::kTrue) continue;
      if (const auto macro = macros.find(name); macro != macros.end()) Fill(*macro->second);
    }
  }
};

}  // namespace

AttributeFile ParseAttributeFile(std::string_view text, bool macros) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  AttributeFile file;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (auto parsed = ParseLine(line.substr(0, line.find('\0')), macros)) {
      file.push_back(*std::move(parsed));
    }
  }
  return file;
}

std::map<std::string, AttributeValue> AttributesOf(const std::vector<AttributeSource>& sources,
                                                   std::string_view path, bool ignore_case) {
  static const AttributeFile kBuiltin = ParseAttributeFile("[attr]binary -diff -merge -text", true);
  Lookup lookup;
  for (const AttributeSource& source : sources) {
    for (const AttributeLine& line : std::ranges::reverse_view(*source.file)) {
      if (!line.macro.empty()) lookup.macros.emplace(line.macro, &line);
    }
  }
  lookup.macros.emplace("binary", &kBuiltin.front());
  for (const AttributeSource& source : sources) {
    for (const AttributeLine& line : std::ranges::reverse_view(*source.file)) {
      // Only directories have a trailing slash for git, and only files are asked about.
      if (!line.macro.empty() || line.pattern.must_be_directory) continue;
      if (Matches(line.pattern, source.directory, path, ignore_case)) lookup.Fill(line);
    }
  }
  return std::move(lookup.found);
}

}  // namespace bawn::git
