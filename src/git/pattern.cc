#include "git/pattern.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

namespace bawn::git {
namespace {

unsigned char Fold(char c, bool ignore_case) {
  const auto byte = static_cast<unsigned char>(c);
  // ASCII only, as git's own table: a locale must not decide what is ignored.
  return ignore_case && byte >= 'A' && byte <= 'Z' ? static_cast<unsigned char>(byte + 32) : byte;
}

bool Equal(std::string_view a, std::string_view b, bool ignore_case) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) {
           return Fold(x, ignore_case) == Fold(y, ignore_case);
         });
}

std::optional<bool> InClass(std::string_view name, unsigned char c) {
  const bool ascii = c < 128;
  if (name == "alnum") return ascii && std::isalnum(c);
  if (name == "alpha") return ascii && std::isalpha(c);
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "cntrl") return c < 32 || c == 127;
  if (name == "digit") return ascii && std::isdigit(c);
  if (name == "graph") return c > 32 && c < 127;
  if (name == "lower") return ascii && std::islower(c);
  if (name == "print") return c >= 32 && c < 127;
  if (name == "punct") return ascii && std::ispunct(c);
  if (name == "space") return ascii && std::isspace(c);
  if (name == "upper") return ascii && std::isupper(c);
  if (name == "xdigit") return ascii && std::isxdigit(c);
  return std::nullopt;
}

class Matcher {
 public:
  Matcher(std::string_view pattern, std::string_view text, bool slashes, bool ignore_case)
      : pattern_(pattern), text_(text), slashes_(slashes), ignore_case_(ignore_case) {}

  bool Run(size_t p, size_t t) {
    for (; p < pattern_.size(); ++p, ++t) {
      if (pattern_[p] == '*') return Star(p, t);
      if (t == text_.size()) return false;
      const unsigned char c = Fold(text_[t], ignore_case_);
      if (pattern_[p] == '?') {
        if (slashes_ && c == '/') return false;
      } else if (pattern_[p] == '[') {
        if (!Bracket(&p, c)) return false;
      } else {
        if (pattern_[p] == '\\') {
          ++p;
          if (p == pattern_.size()) return false;
        }
        if (Fold(pattern_[p], ignore_case_) != c) return false;
      }
    }
    return t == text_.size();
  }

 private:
  // Remembers what failed, so that "*a*a*a*a*b" costs pattern * text and not two to the stars.
  bool Try(size_t p, size_t t) {
    const size_t index = p * (text_.size() + 1) + t;
    if (!failed_.empty() && failed_[index]) return false;
    if (Run(p, t)) return true;
    if (++failures_ == 64) failed_.resize((pattern_.size() + 1) * (text_.size() + 1));
    if (!failed_.empty()) failed_[index] = true;
    return false;
  }

  bool Star(size_t p, size_t t) {
    const size_t start = p;
    while (p < pattern_.size() && pattern_[p] == '*') ++p;
    const std::string_view rest = pattern_.substr(p);
    const bool whole_components = p - start > 1 && (start == 0 || pattern_[start - 1] == '/') &&
                                  (rest.empty() || rest.front() == '/' || rest.starts_with("\\/"));
    const bool over_slashes = !slashes_ || whole_components;
    // "a/**/b" also means "a/b".
    if (slashes_ && whole_components && rest.starts_with('/') && Try(p + 1, t)) return true;
    if (rest.empty()) return over_slashes || text_.find('/', t) == std::string_view::npos;
    if (star_failed_.empty()) star_failed_.resize(pattern_.size(), {1, 0});
    auto& [from, to] = star_failed_[start];
    if (from <= t && t <= to) return false;
    for (size_t at = t;; ++at) {
      if (Try(p, at)) return true;
      if (at == text_.size() || (!over_slashes && text_[at] == '/')) {
        // From any later place of this stretch the star has fewer choices still.
        from = t;
        to = at;
        return false;
      }
    }
  }

  // One [...] at *p, which is left on its ']'. A malformed one matches nothing.
  bool Bracket(size_t* at, unsigned char c) {
    size_t p = *at + 1;
    const bool negated = p < pattern_.size() && (pattern_[p] == '!' || pattern_[p] == '^');
    if (negated) ++p;
    bool matched = false;
    unsigned char previous = 0;
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(pattern_[i]); };
    for (bool first = true; first || p >= pattern_.size() || pattern_[p] != ']';
         first = false, ++p) {
      if (p >= pattern_.size()) return false;
      unsigned char item = byte(p);
      if (item == '\\') {
        if (++p >= pattern_.size()) return false;
        item = byte(p);
        matched |= c == item;
      } else if (item == '-' && previous != 0 && p + 1 < pattern_.size() &&
                 pattern_[p + 1] != ']') {
        item = byte(++p);
        if (item == '\\') {
          if (++p >= pattern_.size()) return false;
          item = byte(p);
        }
        const auto upper = static_cast<unsigned char>(c - 32);
        matched |= (c >= previous && c <= item) ||
                   (ignore_case_ && c >= 'a' && c <= 'z' && upper >= previous && upper <= item);
        item = 0;
      } else if (item == '[' && p + 1 < pattern_.size() && pattern_[p + 1] == ':') {
        const size_t end = pattern_.find(']', p + 2);
        if (end == std::string_view::npos) return false;
        if (end > p + 2 && pattern_[end - 1] == ':') {
          const auto in = Named(pattern_.substr(p + 2, end - 1 - (p + 2)), c);
          if (!in) return false;
          matched |= *in;
          p = end;
          item = 0;
        } else {
          matched |= c == '[';
        }
      } else {
        matched |= c == item;
      }
      previous = item;
    }
    *at = p;
    return matched != negated && !(slashes_ && c == '/');
  }

  std::optional<bool> Named(std::string_view name, unsigned char c) const {
    const auto in = InClass(name, c);
    if (name == "upper" && ignore_case_ && InClass("lower", c) == true) return true;
    return in;
  }

  std::string_view pattern_;
  std::string_view text_;
  bool slashes_;
  bool ignore_case_;
  size_t failures_ = 0;
  std::vector<bool> failed_;
  std::vector<std::pair<size_t, size_t>> star_failed_;  // by star: start and end of what failed
};

}  // namespace

bool WildMatch(std::string_view pattern, std::string_view text, bool slashes, bool ignore_case) {
  return Matcher(pattern, text, slashes, ignore_case).Run(0, 0);
}

Pattern ParsePattern(std::string_view text) {
  Pattern pattern;
  if (text.starts_with('!')) {
    pattern.negative = true;
    text.remove_prefix(1);
  }
  if (text.ends_with('/')) {
    pattern.must_be_directory = true;
    text.remove_suffix(1);
  }
  pattern.base_name_only = text.find('/') == std::string_view::npos;
  pattern.literal_prefix = std::min(text.find_first_of("*?[\\"), text.size());
  pattern.text = text;
  return pattern;
}

bool Matches(const Pattern& pattern, std::string_view directory, std::string_view path,
             bool ignore_case) {
  std::string_view text = pattern.text;
  size_t prefix = pattern.literal_prefix;
  std::string_view name = path;
  if (pattern.base_name_only) {
    if (!directory.empty() && (path.size() <= directory.size() || path[directory.size()] != '/' ||
                               !Equal(path.substr(0, directory.size()), directory, ignore_case))) {
      return false;
    }
    name = path.substr(path.rfind('/') + 1);
    if (prefix == text.size()) return Equal(text, name, ignore_case);
    return WildMatch(text, name, false, ignore_case);
  }
  if (text.starts_with('/')) {
    text.remove_prefix(1);
    --prefix;
  }
  if (!directory.empty()) {
    if (path.size() <= directory.size() || path[directory.size()] != '/' ||
        !Equal(path.substr(0, directory.size()), directory, ignore_case)) {
      return false;
    }
    name = path.substr(directory.size() + 1);
  }
  if (prefix > name.size() || !Equal(text.substr(0, prefix), name.substr(0, prefix), ignore_case)) {
    return false;
  }
  if (prefix == text.size()) return prefix == name.size();
  // As git: the rest alone is matched, so that "**" right after the literal part counts as leading.
  return WildMatch(text.substr(prefix), name.substr(prefix), true, ignore_case);
}

}  // namespace bawn::git
