// Frames between keeper and pid 1: whatever decodes is the one encoding of its message.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/control.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto message = bawn::wire::DecodeToInit(bytes)) {
    BAWN_ASSERT(bawn::wire::Encode(*message) == bytes);
  }
  if (auto message = bawn::wire::DecodeFromInit(bytes)) {
    BAWN_ASSERT(bawn::wire::Encode(*message) == bytes);
  }
  return 0;
}
