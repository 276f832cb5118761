// The author's name and address as `git var GIT_AUTHOR_IDENT` gives them (ident.c): environment,
// author.*, user.*, then what git makes up from the user database and the host's name unless
// user.useConfigOnly forbids it. What git would refuse to use is absent here.
#include <unistd.h>

#include <array>

#include "sys/files.h"
#include "workspace/environment.h"
#include "workspace/git_syntax.h"
#include "workspace/repository.h"

namespace bawn::workspace {
namespace {

constexpr size_t kSystemFileMax = 1 << 20;

bool IsCrud(char c) {
  return static_cast<unsigned char>(c) <= 32 || std::string_view(".,:;<>\"\\'").contains(c);
}

// Without crud at both ends, and without what would break a commit's header line.
std::string Clean(std::string_view text) {
  while (!text.empty() && IsCrud(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsCrud(text.back())) text.remove_suffix(1);
  std::string out;
  for (char c : text) {
    if (c != '\n' && c != '<' && c != '>' && c != '\0') out += c;
  }
  return out;
}

// The gecos field up to the first comma; '&' stands for the capitalised login name.
std::string NameFromUserDatabase() {
  std::optional<UserEntry> user = UserByUid(geteuid());
  std::string name;
  for (char c : user ? user->gecos : std::string()) {
    if (c == ',') break;
    if (c != '&') {
      name += c;
      continue;
    }
    size_t at = name.size();
    name += user->name;
    if (at < name.size())
      name[at] = static_cast<char>(toupper(static_cast<unsigned char>(name[at])));
  }
  return name;
}

// The canonical name that /etc/hosts gives for `host`; a name server is not asked.
std::string QualifiedHost(const std::string& host) {
  if (host.find('.') != std::string::npos) return host;
  Result<std::string> text = sys::ReadFileAt(AT_FDCWD, "/etc/hosts", kSystemFileMax);
  for (std::string_view line : Lines(text ? *text : std::string())) {
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    while (true) {
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (line.empty()) break;
      words.push_back(line.substr(0, line.find_first_of(" \t")));
      line.remove_prefix(words.back().size());
    }
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == host && words[1].find('.') != std::string_view::npos) {
        return std::string(words[1]);
      }
    }
  }
  return {};
}

std::string MailFromHost() {
  std::optional<UserEntry> user = UserByUid(geteuid());
  if (!user) return {};
  Result<std::string> mailname = sys::ReadFileAt(AT_FDCWD, "/etc/mailname", kSystemFileMax);
  std::string host;
  if (mailname) host = std::string(mailname->substr(0, mailname->find('\n')));
  if (host.empty()) {
    std::array<char, 256> buffer = {};
    if (gethostname(buffer.data(), buffer.size() - 1) == 0) host = QualifiedHost(buffer.data());
  }
  return host.empty() ? std::string() : user->name + "@" + host;
}

}  // namespace

Identity AuthorIdentity(const GitConfig& config, const std::vector<std::string>& environment) {
  auto first = [&](const char* variable, const char* author, const char* user) {
    std::optional<std::string> value = EnvValue(environment, variable);
    if (value) return value;
    value = config.Get(author);
    if (!value || value->empty()) value = config.Get(user);
    return value;
  };
  std::optional<std::string> name = first("GIT_AUTHOR_NAME", "author.name", "user.name");
  std::optional<std::string> email = first("GIT_AUTHOR_EMAIL", "author.email", "user.email");
  bool config_only = ConfigBool(config.Get("user.useConfigOnly").value_or("false")).value_or(false);
  if (!name && !config_only) name = NameFromUserDatabase();
  if (!email && !config_only) {
    email = EnvValue(environment, "EMAIL");
    if (!email || email->empty()) email = MailFromHost();
  }
  return {Clean(name.value_or("")), Clean(email.value_or(""))};
}

}  // namespace bawn::workspace
