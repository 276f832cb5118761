// Plan and JobSpec as pid 1 reads them: whatever decodes is the one encoding of its value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "contain/plan_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto plan = bawn::contain::DecodePlan(bytes)) {
    BAWN_ASSERT(bawn::contain::EncodePlan(*plan) == bytes);
  }
  if (auto spec = bawn::contain::DecodeJobSpec(bytes)) {
    BAWN_ASSERT(bawn::contain::EncodeJobSpec(*spec) == bytes);
  }
  return 0;
}
