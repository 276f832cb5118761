#include "workspace/wildmatch.h"

#include <cctype>
#include <utility>

namespace bawn::workspace {
namespace {

using ClassTest = int (*)(int);
constexpr std::pair<std::string_view, ClassTest> kClasses[] = {
    {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
    {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
    {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
};

enum class Verdict { kNo, kYes, kNeverFromHere };

class Matcher {
 public:
  Matcher(std::string_view pattern, std::string_view text, bool fold)
      : pattern_(pattern), text_(text), fold_(fold) {}

  Verdict Match(size_t p, size_t t) {
    for (; p < pattern_.size(); ++p, ++t) {
      char c = Fold(pattern_[p]);
      if (c == '*') return Stars(p, t);
      if (t >= text_.size()) return Verdict::kNeverFromHere;
      if (c == '[') {
        if (!Class(&p, t)) return Verdict::kNo;
      } else if (c == '?') {
        if (text_[t] == '/') return Verdict::kNo;
      } else {
        if (c == '\\' && p + 1 < pattern_.size()) c = Fold(pattern_[++p]);
        if (Fold(text_[t]) != c) return Verdict::kNo;
      }
    }
    return t == text_.size() ? Verdict::kYes : Verdict::kNo;
  }

 private:
  char Fold(char c) const {
    return fold_ && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }

  Verdict Stars(size_t p, size_t t) {
    size_t first = p;
    while (p < pattern_.size() && pattern_[p] == '*') ++p;
    bool at_end = p == pattern_.size();
    bool spans = p - first >= 2 && (first == 0 || pattern_[first - 1] == '/') &&
                 (at_end || pattern_[p] == '/');
    if (at_end) {
      bool rest = spans || text_.find('/', t) == std::string_view::npos;
      return rest ? Verdict::kYes : Verdict::kNo;
    }
    // "**/" may stand for nothing at all.
    if (spans && Match(p + 1, t) == Verdict::kYes) return Verdict::kYes;
    for (; t < text_.size(); ++t) {
      Verdict below = Match(p, t);
      if (below == Verdict::kYes) return below;
      if (below == Verdict::kNeverFromHere) return below;
      if (!spans && text_[t] == '/') return Verdict::kNo;
    }
    return Match(p, t);
  }

  bool Named(std::string_view name, char c) const {
    for (const auto& [class_name, test] : kClasses) {
      if (class_name != name) continue;
      auto byte = static_cast<unsigned char>(c);
      bool upper_as_lower = fold_ && name == "upper" && isalpha(byte) != 0;
      return test(byte) != 0 || upper_as_lower;
    }
    return false;
  }

  // `*p` stands on '[' and is left on ']'. An unclosed class matches nothing.
  bool Class(size_t* p, size_t t) const {
    char c = Fold(text_[t]);
    size_t i = *p + 1;
    bool negated = i < pattern_.size() && (pattern_[i] == '!' || pattern_[i] == '^');
    if (negated) ++i;
    bool found = false;
    char previous = 0;
    for (bool first = true; i < pattern_.size() && (first || pattern_[i] != ']'); ++i) {
      first = false;
      char k = pattern_[i];
      if (k == '\\' && i + 1 < pattern_.size()) k = pattern_[++i];
      if (pattern_[i] == '[' && i + 1 < pattern_.size() && pattern_[i + 1] == ':') {
        size_t end = pattern_.find(":]", i + 2);
        if (end == std::string_view::npos) return false;
        found |= Named(pattern_.substr(i + 2, end - i - 2), text_[t]);
        i = end + 1;
        previous = 0;
        continue;
      }
      bool range = k == '-' && previous != 0 && i + 1 < pattern_.size() && pattern_[i + 1] != ']';
      if (range) {
        char last = pattern_[++i];
        if (last == '\\' && i + 1 < pattern_.size()) last = pattern_[++i];
        found |= Between(previous, c, last) || (fold_ && Between(previous, Upper(c), last));
        previous = 0;
      } else {
        found |= Fold(k) == c;
        previous = k;
      }
    }
    if (i >= pattern_.size()) return false;
    *p = i;
    return found != negated && text_[t] != '/';
  }

  static char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
  static bool Between(char low, char c, char high) {
    auto value = [](char x) { return static_cast<unsigned char>(x); };
    return value(low) <= value(c) && value(c) <= value(high);
  }

  std::string_view pattern_, text_;
  bool fold_;
};

}  // namespace

bool WildMatch(std::string_view pattern, std::string_view text, bool fold_case) {
  return Matcher(pattern, text, fold_case).Match(0, 0) == Verdict::kYes;
}

}  // namespace bawn::workspace
