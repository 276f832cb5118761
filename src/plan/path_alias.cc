#include "plan/path_alias.h"

#include <cstdint>

namespace bawn::plan {
namespace {

// Length in bytes of an HFS+-ignorable code point at the start of `text`, 0 for all else. All of
// them have three bytes in UTF-8.
size_t IgnorableAt(std::string_view text) {
  if (text.size() < 3) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(text[i]) & 0xff; };
  if ((byte(0) & 0xf0) != 0xe0 || (byte(1) & 0xc0) != 0x80 || (byte(2) & 0xc0) != 0x80) return 0;
  const uint32_t point = ((byte(0) & 0x0f) << 12) | ((byte(1) & 0x3f) << 6) | (byte(2) & 0x3f);
  const bool ignorable = (point >= 0x200c && point <= 0x200f) ||
                         (point >= 0x202a && point <= 0x202e) ||
                         (point >= 0x206a && point <= 0x206f) || point == 0xfeff;
  return ignorable ? 3 : 0;
}

}  // namespace

std::string FoldName(std::string_view component) {
  std::string name;
  name.reserve(component.size());
  while (!component.empty()) {
    if (const size_t skip = IgnorableAt(component); skip != 0) {
      component.remove_prefix(skip);
      continue;
    }
    const char c = component.front();
    if (c == ':' && !name.empty()) break;
    name += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    component.remove_prefix(1);
  }
  while (name.ends_with('.') || name.ends_with(' ')) name.pop_back();
  return name;
}

}  // namespace bawn::plan
