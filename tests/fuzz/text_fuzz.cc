// Escaped names come back as the same bytes; nothing that a terminal would obey comes through.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string escaped = bawn::EscapeName(bytes);
  BAWN_ASSERT(bawn::IsValidUtf8(escaped));
  std::optional<std::string> back = bawn::UnescapeName(escaped);
  BAWN_ASSERT(back == bytes);
  if (std::optional<std::string> any = bawn::UnescapeName(bytes)) {
    BAWN_ASSERT(bawn::UnescapeName(bawn::EscapeName(*any)) == any);
  }
  for (char c : bawn::TerminalSafe(bytes)) {
    auto byte = static_cast<unsigned char>(c);
    BAWN_ASSERT((byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t');
  }
  return 0;
}
