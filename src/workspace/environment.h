// workspace/environment.h
// Lookups in an environment held as "NAME=value" strings, and the two lines of /etc/passwd that git
// would ask for. No NSS: the programs that link this are static (DESIGN 9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bawn::workspace {

// The first definition, as getenv(3). Present and empty is not absent.
std::optional<std::string> EnvValue(const std::vector<std::string>& environment,
                                    std::string_view name);

struct UserEntry {
  std::string name, gecos, home;
};
std::optional<UserEntry> UserByUid(uint32_t uid);
std::optional<UserEntry> UserByName(std::string_view name);
// Home directories of root and of every account from uid 1000 up.
std::vector<std::string> PeoplesHomes();

}  // namespace bawn::workspace
