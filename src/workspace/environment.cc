#include "workspace/environment.h"

#include <array>
#include <functional>

#include "sys/files.h"
#include "workspace/git_syntax.h"

namespace bawn::workspace {
namespace {

constexpr size_t kPasswdMax = 4 << 20;

using Fields = std::array<std::string_view, 7>;

std::optional<UserEntry> FindUser(const std::function<bool(const Fields&)>& wanted) {
  Result<std::string> text = sys::ReadFileAt(AT_FDCWD, "/etc/passwd", kPasswdMax);
  if (!text) return std::nullopt;
  for (std::string_view line : Lines(*text)) {
    Fields fields;
    for (std::string_view& field : fields) {
      size_t end = std::min(line.find(':'), line.size());
      field = line.substr(0, end);
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    if (!wanted(fields)) continue;
    return UserEntry{std::string(fields[0]), std::string(fields[4]), std::string(fields[5])};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> EnvValue(const std::vector<std::string>& environment,
                                    std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

std::optional<UserEntry> UserByUid(uint32_t uid) {
  std::string text = std::to_string(uid);
  return FindUser([&](const Fields& fields) { return fields[2] == text; });
}

std::optional<UserEntry> UserByName(std::string_view name) {
  return FindUser([&](const Fields& fields) { return !name.empty() && fields[0] == name; });
}

}  // namespace bawn::workspace
