// tests/fuzz/fuzz_target.h
// The entry of libFuzzer, and the property that all our fixed encodings have: bytes that decode are
// the very bytes that encoding the value gives, so two decoders can never read one frame
// differently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace bawn {

inline std::string_view Input(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

template <class Decode, class Encode>
void CheckRoundTrip(std::string_view bytes, Decode decode, Encode encode) {
  auto value = decode(bytes);
  if (value) BAWN_ASSERT(encode(*value) == bytes);
}

}  // namespace bawn
