// A JobSpec as pid 1 reads it: whatever exec takes.
#include "contain/plan_codec.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bawn::CheckRoundTrip(bawn::Input(data, size), bawn::contain::DecodeJobSpec,
                       [](const auto& value) { return bawn::contain::EncodeJobSpec(value); });
  return 0;
}
