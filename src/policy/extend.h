// policy/extend.h
// `extends`: a profile adds to another. Pure; the caller knows where profiles lie.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace bawn::policy {

inline constexpr int kExtendsMax = 8;

// `over` on `base`: lists are base's, then over's; of two settings of one variable or limit over's
// counts; the level floor is the higher of the two. The result extends nothing.
Policy Extend(const Policy& base, const Policy& over);

// Follows `extends` to its end. `find` gives a profile by name, its own `extends` unresolved.
// kInvalidArgument for a circle or more than kExtendsMax steps.
Result<Policy> ResolveExtends(Policy policy,
                              const std::function<Result<Policy>(std::string_view)>& find);

}  // namespace bawn::policy
