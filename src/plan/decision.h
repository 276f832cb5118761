// plan/decision.h
// A verdict with the rule that made it. Every decision names its rule (DESIGN promise 2), and a
// denial names the sanctioned way to change it (promise 3).
#pragma once

#include <cstdint>
#include <string>

namespace bawn::plan {

enum class Verdict : uint8_t { kDeny, kAllow, kAsk };
inline constexpr Verdict kDefaultVerdict = Verdict::kDeny;

struct Decision {
  Verdict verdict = kDefaultVerdict;
  std::string subject;  // what was asked: "env:AWS_SECRET_ACCESS_KEY", "view:/home/u/.cargo/bin"
  std::string rule_id;  // stable
  std::string file;     // "built-in" or a path
  uint32_t line = 0;
  std::string reason;
  std::string remedy;  // how to change it, empty when nothing may
};

}  // namespace bawn::plan
