// policy/asked.h
// Judges one path of --ro, --rw or --show (or of a profile's view). Private to the room.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "policy/build.h"

namespace bawn::policy {

enum class AskedVerdict : uint8_t {
  kShow,
  kNothingToDo,  // the view has it already; noted
};

// The value of a variable of the caller; empty when unset.
std::string_view CallerVariable(const plan::HostFacts& host, std::string_view name);

// Errors are refusals with rule and remedy: kNotFound for a path that does not exist.
Result<AskedVerdict> JudgeAsked(Build* build, const Asked& asked);

}  // namespace bawn::policy
