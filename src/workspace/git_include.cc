#include "workspace/git_include.h"

#include <algorithm>

#include "base/text.h"
#include "sys/files.h"
#include "workspace/environment.h"
#include "workspace/repository_read.h"
#include "workspace/wildmatch.h"

namespace bawn::workspace {
namespace {

Result<std::string> RealPath(const std::string& path) {
  return PathOfFd(BAWN_TRY(sys::Openat2(AT_FDCWD, path, O_PATH)).get());
}

// "~/x" and "~user/x"; absent when there is no such home.
std::optional<std::string> ExpandHome(const IncludeContext& context, std::string_view path) {
  size_t slash = std::min(path.find('/'), path.size());
  std::string_view user = path.substr(1, slash - 1);
  std::string home = context.home;
  if (!user.empty()) {
    std::optional<UserEntry> entry = UserByName(user);
    home = entry ? entry->home : "";
  }
  if (home.empty()) return std::nullopt;
  return home + std::string(path.substr(slash));
}

struct Pattern {
  std::string text;
  size_t literal = 0;  // this many bytes are compared as they stand
};

Result<Pattern> PreparePattern(const IncludeContext& context, std::string_view condition,
                               const std::string& file) {
  Pattern pattern{std::string(condition), 0};
  if (condition.starts_with('~')) {
    std::optional<std::string> expanded = ExpandHome(context, condition);
    if (expanded) {
      // git compares with the real path of the home directory.
      std::string home = condition.starts_with("~/") ? RealPath(context.home).value_or(context.home)
                                                     : std::string();
      pattern.text = home.empty() ? *expanded : home + std::string(condition.substr(1));
    }
  }
  if (pattern.text.starts_with("./")) {
    if (file.empty()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "relative config include conditionals must come from files");
    }
    std::string directory = BAWN_TRY(RealPath(file));
    directory.resize(directory.rfind('/'));
    pattern.text.replace(0, 1, directory);
    pattern.literal = directory.size() + 1;
  } else if (!pattern.text.starts_with('/')) {
    pattern.text.insert(0, "**/");
  }
  if (pattern.text.ends_with('/')) pattern.text += "**";
  return pattern;
}

bool Matches(const Pattern& pattern, std::string_view text, bool fold) {
  std::string_view all = pattern.text;
  if (text.size() < pattern.literal) return false;
  bool same = std::equal(all.begin(), all.begin() + static_cast<ptrdiff_t>(pattern.literal),
                         text.begin(), [fold](char a, char b) {
                           return fold ? tolower(static_cast<unsigned char>(a)) ==
                                             tolower(static_cast<unsigned char>(b))
                                       : a == b;
                         });
  return same && WildMatch(all.substr(pattern.literal), text.substr(pattern.literal), fold);
}

// The git directory as it is spelled by a caller who stands at the work tree's top by way of a
// link.
std::string SpelledGitDir(const IncludeContext& context) {
  std::string pwd = EnvValue(*context.environment, "PWD").value_or("");
  if (!pwd.starts_with('/') || context.repository->dot_git_is_file) return {};
  Result<std::string> real = RealPath(pwd);
  return real && *real == context.repository->work_tree ? pwd + "/.git" : std::string();
}

}  // namespace

bool IsInclude(std::string_view key, std::string* condition) {
  condition->clear();
  if (key == "include.path") return true;
  constexpr std::string_view kPrefix = "includeif.", kSuffix = ".path";
  if (!key.starts_with(kPrefix) || !key.ends_with(kSuffix)) return false;
  if (key.size() <= kPrefix.size() + kSuffix.size()) return false;
  *condition = key.substr(kPrefix.size(), key.size() - kPrefix.size() - kSuffix.size());
  return true;
}

Result<bool> ConditionHolds(const IncludeContext& context, std::string_view condition,
                            const std::string& file) {
  if (context.repository == nullptr) return false;
  bool fold = condition.starts_with("gitdir/i:");
  if (fold || condition.starts_with("gitdir:")) {
    condition.remove_prefix(condition.find(':') + 1);
    Pattern pattern = BAWN_TRY(PreparePattern(context, condition, file));
    if (Matches(pattern, context.repository->git_dir, fold)) return true;
    std::string spelled = SpelledGitDir(context);
    return !spelled.empty() && Matches(pattern, spelled, fold);
  }
  if (condition.starts_with("onbranch:")) {
    std::string_view branch = context.repository->head_ref;
    if (!branch.starts_with("refs/heads/")) return false;
    std::string pattern(condition.substr(9));
    if (pattern.ends_with('/')) pattern += "**";
    return WildMatch(pattern, branch.substr(11));
  }
  return false;
}

bool AnyMatches(std::string_view pattern, const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return WildMatch(pattern, text); });
}

Result<std::string> IncludedPath(const IncludeContext& context, const std::string& value,
                                 const std::string& file) {
  if (value.starts_with('/')) return value;
  if (value.starts_with('~')) {
    std::optional<std::string> expanded = ExpandHome(context, value);
    if (expanded) return *expanded;
    return Fail(ErrorCode::kInvalidArgument, "git config: could not expand include path " +
                                                 EscapeName(value) + " in " + EscapeName(file));
  }
  constexpr std::string_view kPrefix = "%(prefix)/";
  if (value.starts_with(kPrefix)) return "/usr/" + value.substr(kPrefix.size());
  if (file.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "git config: relative includes must come from files: " + EscapeName(value));
  }
  return file.substr(0, file.rfind('/') + 1) + value;
}

namespace {

// One '...' with '\'' and '\!' inside, as sq_quote_buf writes it.
bool TakeQuoted(std::string_view* text, std::string* out) {
  if (!text->starts_with('\'')) return false;
  text->remove_prefix(1);
  while (true) {
    size_t end = text->find('\'');
    if (end == std::string_view::npos) return false;
    out->append(text->substr(0, end));
    text->remove_prefix(end + 1);
    bool goes_on = text->size() >= 3 && (*text)[0] == '\\' && (*text)[2] == '\'';
    if (!goes_on) return true;
    *out += (*text)[1];
    text->remove_prefix(3);
  }
}

}  // namespace

Result<> ParseParameters(std::string_view text, std::vector<ConfigEntry>* entries) {
  auto bad = [] {
    return Fail(ErrorCode::kInvalidArgument, "bogus format in GIT_CONFIG_PARAMETERS");
  };
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    ConfigEntry entry;
    if (!TakeQuoted(&text, &entry.key)) return bad();
    if (text.starts_with("='")) {
      text.remove_prefix(1);
      if (!TakeQuoted(&text, &entry.value.emplace())) return bad();
    } else if (text.starts_with('=')) {
      text.remove_prefix(1);  // 'key'= : a lone key
    } else if (size_t equals = entry.key.find('='); equals != std::string::npos) {
      entry.value = entry.key.substr(equals + 1);
      entry.key.resize(equals);
    }
    entries->push_back(std::move(entry));
  }
  return {};
}

}  // namespace bawn::workspace
