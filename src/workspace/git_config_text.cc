// The parser of git's config syntax: one pass over the bytes, as config.c reads them.
#include <utility>

#include "base/text.h"
#include "workspace/git_syntax.h"

namespace bawn::workspace {
namespace {

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : text_(text), file_(file) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  Result<std::vector<ConfigEntry>> Parse() {
    while (true) {
      int c = Next();
      if (c == kEnd) return std::move(entries_);
      if (c == '\n' || c == ' ' || c == '\t' || c == '\r') continue;
      bool good = true;
      if (c == '#' || c == ';') {
        SkipLine();
      } else if (c == '[') {
        good = Section();
      } else {
        good = !section_.empty() && Variable(c);
      }
      if (!good || entries_.size() > kConfigEntriesMax) return Bad();
    }
  }

 private:
  static constexpr int kEnd = -1;

  // Folds CRLF, counts lines.
  int Next() {
    if (at_ >= text_.size()) return kEnd;
    char c = text_[at_++];
    if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') c = text_[at_++];
    line_ += last_ == '\n' ? 1 : 0;
    last_ = c;
    return static_cast<unsigned char>(c);
  }

  void SkipLine() {
    for (int c = Next(); c != '\n' && c != kEnd;) c = Next();
  }

  static bool IsKeyByte(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  }
  static char Lower(int c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

  // [section], [section "sub"] or the old [section.sub], whose subsection is in lower case too.
  bool Section() {
    section_.clear();
    for (int c = Next();; c = Next()) {
      if (c == ']') return !section_.empty();
      if (c == ' ' || c == '\t') return Subsection();
      if (!IsKeyByte(c) && c != '.') return false;
      section_ += Lower(c);
    }
  }

  bool Subsection() {
    int c = Next();
    while (c == ' ' || c == '\t') c = Next();
    if (c != '"' || section_.empty()) return false;
    section_ += '.';
    for (c = Next(); c != '"'; c = Next()) {
      if (c == '\\') c = Next();
      if (c == '\n' || c == kEnd) return false;
      section_ += static_cast<char>(c);
    }
    return Next() == ']';
  }

  bool Variable(int c) {
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
    ConfigEntry entry{section_ + '.', std::nullopt};
    for (; IsKeyByte(c); c = Next()) entry.key += Lower(c);
    while (c == ' ' || c == '\t') c = Next();
    if (c == '=') {
      entry.value.emplace();
      if (!Value(&*entry.value)) return false;
    } else if (c == '#' || c == ';') {
      SkipLine();  // git takes a comment behind a lone key
    } else if (c != '\n' && c != kEnd) {
      return false;
    }
    entries_.push_back(std::move(entry));
    return true;
  }

  // Up to the end of the line: quotes, escapes, continuation lines, comments; outer white space
  // goes.
  bool Value(std::string* value) {
    bool quoted = false;
    size_t keep = 0;  // bytes that are not trailing white space
    while (true) {
      int c = Next();
      if (c == '\n' || c == kEnd) {
        value->resize(keep);
        return !quoted;
      }
      if (!quoted && (c == ' ' || c == '\t' || c == '\r')) {
        if (keep > 0) *value += static_cast<char>(c);
        continue;
      }
      if (!quoted && (c == '#' || c == ';')) {
        SkipLine();
        value->resize(keep);
        return true;
      }
      if (c == '"') {
        quoted = !quoted;
        continue;
      }
      if (c == '\\') {
        c = Escaped();
        if (c == kContinued) continue;
        if (c == kEnd) return false;
      }
      *value += static_cast<char>(c);
      keep = value->size();
    }
  }

  static constexpr int kContinued = -2;
  int Escaped() {
    switch (Next()) {
      case '\n':
        return kContinued;
      case 't':
        return '\t';
      case 'b':
        return '\b';
      case 'n':
        return '\n';
      case '\\':
        return '\\';
      case '"':
        return '"';
      default:
        return kEnd;
    }
  }

  Result<std::vector<ConfigEntry>> Bad() const {
    return Fail(ErrorCode::kInvalidArgument,
                "bad config line " + std::to_string(line_) + " in " + EscapeName(file_),
                "git config --list --show-origin shows the same line");
  }

  std::string_view text_, file_;
  size_t at_ = 0;
  int line_ = 1;
  char last_ = 0;
  std::string section_;
  std::vector<ConfigEntry> entries_;
};

}  // namespace

Result<std::vector<ConfigEntry>> ParseConfigText(std::string_view text, std::string_view file) {
  return Parser(text, file).Parse();
}

}  // namespace bawn::workspace
