// policy/read/profile.h
// The text of a profile -> Policy. Says everything that is wrong, each with its line; a profile
// with one fault is no profile (DESIGN promise 3: what does not parse denies everything).
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "policy/policy.h"
#include "policy/read/yaml.h"

namespace bawn::policy::read {

// `name`: what other profiles call it; `file`: what diagnostics and decisions call it.
std::expected<Policy, Diagnostics> ReadProfile(std::string_view text, const std::string& name,
                                               const std::string& file);

// "file:line: message\n" each, as compilers write.
std::string FormatDiagnostics(const Diagnostics& diagnostics, std::string_view file);

}  // namespace bawn::policy::read
