// policy/binary.h
// The compiled form of a profile: what bawn-policy writes and every other program reads, so that
// none of them links YAML. Little-endian integers, byte strings with a 32-bit length; versioned by
// its first word; never trusted: the decoder is bounded and fuzzed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace bawn::policy {

inline constexpr size_t kCompiledBytesMax = 1 << 20;

std::string EncodePolicy(const Policy& policy);

// kInvalidArgument, with the remedy, for another version or malformed bytes. The digest is computed
// anew, not taken from the bytes.
Result<Policy> DecodePolicy(std::string_view bytes);

}  // namespace bawn::policy
