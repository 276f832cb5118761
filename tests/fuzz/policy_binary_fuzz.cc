// The decoder of compiled profiles: any bytes give a Policy or an error, and a Policy has exactly
// one encoding.
#include <string>

#include "policy/binary.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bawn::policy;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bawn::Result<Policy> policy = DecodePolicy(bytes);
  if (policy) BAWN_ASSERT(EncodePolicy(*policy) == bytes);
  return 0;
}
