// policy/builtin.h
// The profiles compiled into the program: `default`, `browser`, `debug`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace bawn::policy {

std::optional<Policy> BuiltinPolicy(std::string_view name);
std::vector<std::string_view> BuiltinPolicyNames();

}  // namespace bawn::policy
