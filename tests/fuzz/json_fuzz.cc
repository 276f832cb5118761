// The one JSON reader: what it accepts, written and read again, is the same text.
#include "base/json.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bawn::Result<bawn::Json> value = bawn::ParseJson(bawn::Input(data, size));
  if (!value) return 0;
  std::string text = bawn::ToJsonText(*value);
  bawn::Result<bawn::Json> again = bawn::ParseJson(text);
  BAWN_ASSERT(again && bawn::ToJsonText(*again) == text);
  return 0;
}
