// The profile reader: any bytes give a Policy or diagnostics, never a crash, a hang or text that a
// terminal would obey; and what is accepted survives the compiled form unchanged.
#include <algorithm>
#include <string>

#include "policy/binary.h"
#include "policy/read/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bawn::policy;
  std::string text(reinterpret_cast<const char*>(data), size);
  auto policy = read::ReadProfile(text, "fuzz", "fuzz.yaml");
  if (!policy) {
    BAWN_ASSERT(!policy.error().empty());
    auto lines = static_cast<uint32_t>(std::ranges::count(text, '\n') + 1);
    for (const read::Diagnostic& one : policy.error()) {
      BAWN_ASSERT(one.line >= 1 && one.line <= lines);
      BAWN_ASSERT(!one.message.empty());
    }
    std::string shown = read::FormatDiagnostics(policy.error(), "fuzz.yaml");
    BAWN_ASSERT(shown.find('\x1b') == std::string::npos);
    return 0;
  }
  std::string bytes = EncodePolicy(*policy);
  bawn::Result<Policy> back = DecodePolicy(bytes);
  BAWN_ASSERT(back.has_value());
  BAWN_ASSERT(EncodePolicy(*back) == bytes && back->digest == policy->digest);
  return 0;
}
