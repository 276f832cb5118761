// What pid 1 says to its keeper: the one frame that a taken-over sandbox could forge.
#include "fuzz_target.h"
#include "wire/control.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bawn::CheckRoundTrip(bawn::Input(data, size), bawn::wire::DecodeFromInit,
                       [](const auto& value) { return bawn::wire::Encode(value); });
  return 0;
}
