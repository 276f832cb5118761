// policy/canonical.h
// What a profile says, as text without comments, order of keys or places: two files that say the
// same have the same text, and the digest over it is what receipts record.
#pragma once

#include <string>

#include "policy/policy.h"

namespace bawn::policy {

std::string CanonicalText(const Policy& policy);
std::string PolicyDigest(const Policy& policy);  // 64 hex digits

}  // namespace bawn::policy
