#include "policy/builtin.h"

#include <algorithm>

#include "base/sha256.h"

namespace bawn::policy {
namespace {

constexpr std::string_view kNames[] = {"default", "browser", "debug"};

}  // namespace

std::optional<Policy> BuiltinPolicy(std::string_view name) {
  if (std::ranges::find(kNames, name) == std::end(kNames)) return std::nullopt;
  Policy policy;
  policy.name = name;
  // `browser` and `debug` differ from `default` by the rows of the system call filter they open.
  if (name != "default") policy.syscall_profiles.emplace_back(name);
  policy.sources.push_back({});
  policy.digest = Sha256Hex("built-in " BAWN_VERSION " " + policy.name);
  return policy;
}

std::vector<std::string_view> BuiltinPolicyNames() {
  return {std::begin(kNames), std::end(kNames)};
}

}  // namespace bawn::policy
