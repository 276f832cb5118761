// The keeper's orders to pid 1.
#include "fuzz_target.h"
#include "wire/control.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bawn::CheckRoundTrip(bawn::Input(data, size), bawn::wire::DecodeToInit,
                       [](const auto& value) { return bawn::wire::Encode(value); });
  return 0;
}
