#include "sys/users.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "sys/files.h"

namespace bawn::sys {
namespace {

constexpr size_t kDatabaseBytesMax = 16 << 20;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<uint32_t> Number(std::string_view text) {
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Credentials CurrentCredentials() {
  Credentials now;
  now.uid = getuid();
  now.euid = geteuid();
  now.gid = getgid();
  int count = getgroups(0, nullptr);
  now.groups.resize(static_cast<size_t>(std::max(count, 0)));
  if (count > 0 && getgroups(count, now.groups.data()) < 0) now.groups.clear();
  return now;
}

std::optional<PasswdEntry> FindUser(uint32_t uid) {
  Result<std::string> text = ReadFileAt(AT_FDCWD, "/etc/passwd", kDatabaseBytesMax);
  if (!text) return std::nullopt;
  for (std::string_view line : Split(*text, '\n')) {
    std::vector<std::string_view> fields = Split(line, ':');
    if (fields.size() != 7 || Number(fields[2]) != uid) continue;
    PasswdEntry entry{std::string(fields[0]), std::string(fields[5]), std::string(fields[6]), uid,
                      0};
    entry.gid = Number(fields[3]).value_or(0);
    return entry;
  }
  return std::nullopt;
}

std::vector<std::pair<uint32_t, std::string>> GroupNames(const std::vector<uint32_t>& gids) {
  std::vector<std::pair<uint32_t, std::string>> names;
  Result<std::string> text = ReadFileAt(AT_FDCWD, "/etc/group", kDatabaseBytesMax);
  if (!text) return names;
  for (std::string_view line : Split(*text, '\n')) {
    std::vector<std::string_view> fields = Split(line, ':');
    if (fields.size() != 4) continue;
    std::optional<uint32_t> gid = Number(fields[2]);
    if (gid && std::find(gids.begin(), gids.end(), *gid) != gids.end()) {
      names.emplace_back(*gid, std::string(fields[0]));
    }
  }
  return names;
}

uint64_t TotalMemoryBytes() {
  struct sysinfo info = {};
  if (sysinfo(&info) < 0) return 0;
  return uint64_t{info.totalram} * info.mem_unit;
}

std::string RealPath(const std::string& path) {
  std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  return real == nullptr ? std::string() : std::string(real.get());
}

std::string CurrentDirectory() { return RealPath("."); }

int CurrentPid() { return getpid(); }

}  // namespace bawn::sys
