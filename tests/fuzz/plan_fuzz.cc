// The Plan as pid 1 reads it from its keeper.
#include "contain/plan_codec.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bawn::CheckRoundTrip(bawn::Input(data, size), bawn::contain::DecodePlan,
                       [](const auto& value) { return bawn::contain::EncodePlan(value); });
  return 0;
}
