// policy/environment.h
// The tiers of view/environment_table.h, applied to one name.
#pragma once

#include <string_view>

#include "policy/view/environment_table.h"

namespace bawn::policy {

struct EnvVerdict {
  EnvTier tier = EnvTier::kOther;
  std::string_view pattern;  // of the row that decided; empty for kOther
};

// Refusing tiers match whatever the case of the name (npm reads npm_config_*); kReviewed is exact.
EnvVerdict JudgeVariable(std::string_view name);

bool IsRefusedTier(EnvTier tier);         // kHook, kDoor, kOurs, kCredential
std::string_view TierRule(EnvTier tier);  // "env.hook", …
std::string_view TierReason(EnvTier tier);

// A portable name: not empty, no '=', no NUL, at most 255 bytes.
bool IsVariableName(std::string_view name);

}  // namespace bawn::policy
