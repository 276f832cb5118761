#include "workspace/environment.h"

#include <array>
#include <functional>

#include "sys/files.h"
#include "workspace/git_syntax.h"

namespace bawn::workspace {
namespace {

constexpr size_t kPasswdMax = 4 << 20;

using Fields = std::array<std::string_view, 7>;

// Calls `visit` for each line until it says that it has seen enough.
void ForEachUser(const std::function<bool(const Fields&)>& visit) {
  Result<std::string> text = sys::ReadFileAt(AT_FDCWD, "/etc/passwd", kPasswdMax);
  if (!text) return;
  for (std::string_view line : Lines(*text)) {
    Fields fields;
    for (std::string_view& field : fields) {
      size_t end = std::min(line.find(':'), line.size());
      field = line.substr(0, end);
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    if (visit(fields)) return;
  }
}

std::optional<UserEntry> FindUser(size_t field, std::string_view value) {
  std::optional<UserEntry> found;
  ForEachUser([&](const Fields& fields) {
    if (fields[field] != value) return false;
    found = UserEntry{std::string(fields[0]), std::string(fields[4]), std::string(fields[5])};
    return true;
  });
  return found;
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

std::optional<UserEntry> UserByUid(uint32_t uid) { return FindUser(2, std::to_string(uid)); }

std::optional<UserEntry> UserByName(std::string_view name) {
  return name.empty() ? std::nullopt : FindUser(0, name);
}

std::vector<std::string> PeoplesHomes() {
  std::vector<std::string> homes;
  ForEachUser([&](const Fields& fields) {
    bool person = fields[2] == "0" || (fields[2].size() >= 4 && fields[2] != "65534");
    if (person && fields[5].starts_with('/')) homes.emplace_back(fields[5]);
    return false;
  });
  return homes;
}

}  // namespace bawn::workspace
