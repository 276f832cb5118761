// sys/users.h
// Who runs this process, and what /etc/passwd and /etc/group say of an id. Read by ourselves: a
// static program has no NSS (getpwuid would load shared objects).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace bawn::sys {

struct Credentials {
  uint32_t uid = 0, euid = 0, gid = 0;
  std::vector<uint32_t> groups;
};
Credentials CurrentCredentials();

struct PasswdEntry {
  std::string name, home, shell;
  uint32_t uid = 0, gid = 0;
};
std::optional<PasswdEntry> FindUser(uint32_t uid);
std::vector<std::pair<uint32_t, std::string>> GroupNames(const std::vector<uint32_t>& gids);

uint64_t TotalMemoryBytes();
std::string RealPath(const std::string& path);  // empty when it does not exist
std::string CurrentDirectory();                 // real path, empty when it is gone
int CurrentPid();

}  // namespace bawn::sys
