// What ParseJson accepts it can print, and reads back as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  bawn::Result<bawn::Json> first = bawn::ParseJson(text);
  if (!first) return 0;
  std::string printed = bawn::ToJsonText(*first);
  bawn::Result<bawn::Json> second = bawn::ParseJson(printed);
  BAWN_ASSERT(second.has_value());
  BAWN_ASSERT(bawn::ToJsonText(*second) == printed);
  return 0;
}
