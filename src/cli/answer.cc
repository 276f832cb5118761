#include "cli/answer.h"

#include <algorithm>

#include "base/text.h"

namespace bawn::cli {

const Json* At(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (at != nullptr && !path.empty()) {
    size_t dot = std::min(path.find('.'), path.size());
    at = at->Get(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

std::optional<uint64_t> NumberAt(const Json& json, std::string_view path) {
  const Json* at = At(json, path);
  return at == nullptr ? std::nullopt : at->AsUint();
}

std::string TextAt(const Json& json, std::string_view path) {
  const Json* at = At(json, path);
  const std::string* text = at == nullptr ? nullptr : at->AsString();
  return text == nullptr ? std::string() : *text;
}

const JsonArray& ArrayAt(const Json& json, std::string_view path) {
  static const JsonArray kNone;
  const Json* at = At(json, path);
  const JsonArray* array = at == nullptr ? nullptr : at->AsArray();
  return array == nullptr ? kNone : *array;
}

std::string ShellWord(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
  if (plain) return std::string(word);
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string CommandText(const JsonArray& words) {
  std::string text;
  for (const Json& word : words) {
    const std::string* one = word.AsString();
    if (one == nullptr) continue;
    text += (text.empty() ? "" : " ") + ShellWord(UnescapeName(*one).value_or(*one));
  }
  return text;
}

std::string OneLine(std::string_view text) {
  std::string out;
  for (char c : TerminalSafe(text)) {
    if (c == '\n') {
      out += "\\x0a";
    } else if (c == '\t') {
      out += "\\x09";
    } else {
      out += c;
    }
  }
  return out;
}

std::string AgeText(uint64_t seconds) {
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < uint64_t{120} * 60) return std::to_string(seconds / 60) + " min";
  if (seconds < uint64_t{48} * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / 86400) + " d";
}

std::string Plural(uint64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

void SayRecovered(const Console& console, const Json& answer) {
  for (const Json& line : ArrayAt(answer, "recovered")) {
    if (line.AsString() != nullptr) console.Say(*line.AsString());
  }
}

uint64_t CountAt(const Json& json, std::string_view path) {
  return NumberAt(json, path).value_or(ArrayAt(json, path).size());
}

std::string PathOf(const Json& element) {
  return element.AsString() != nullptr ? *element.AsString() : TextAt(element, "path");
}

std::string ReasonOf(const Json& element) {
  std::string why = TextAt(element, "why");
  return why.empty() ? TextAt(element, "reason") : why;
}

bool SayLeft(const Console& console, const Json& answer) {
  bool any = false;
  for (const char* member : {"left", "refused"}) {
    for (const Json& one : ArrayAt(answer, member)) {
      std::string why = ReasonOf(one);
      // Where nothing else says what to do about it, the line itself does.
      if (std::string hint = TextAt(one, "hint"); !hint.empty()) why += "; " + hint;
      console.Say("left alone: " + OneLine(PathOf(one)) +
                  (why.empty() ? "" : " (" + OneLine(why) + ")"));
      any = true;
    }
  }
  return any;
}

Result<int> OutJson(const Console& console, const Json& answer) {
  BAWN_CHECK_OK(console.Out(ToJsonText(answer, 2) + "\n"));
  return 0;
}

namespace {
// Code points: what a cell takes on a terminal, but for wide characters.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
}  // namespace

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = OneLine(cell);
  rows_.push_back(std::move(row));
}

std::string Table::Text() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string out;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - Width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace bawn::cli
