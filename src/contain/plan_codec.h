// contain/plan_codec.h
// Plan and JobSpec as bytes: written by the keeper into a sealed memfd, read by bawn-init.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace bawn::contain {

std::string EncodePlan(const plan::Plan& plan);
Result<plan::Plan> DecodePlan(std::string_view bytes);
// The level alone, without decoding the rest.
Result<plan::Level> DecodeLevel(std::string_view bytes);
std::string EncodeJobSpec(const plan::JobSpec& spec);
Result<plan::JobSpec> DecodeJobSpec(std::string_view bytes);

}  // namespace bawn::contain
