// review/lfs.h
// A Git LFS pointer file (the LFS specification): what the repository holds instead of the content.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bawn::review {

struct LfsPointer {
  std::string sha256;
  uint64_t size = 0;
};
std::optional<LfsPointer> ParseLfsPointer(std::string_view blob);

// What git-lfs puts into the repository for this content: nothing for an empty file.
std::string LfsPointerText(std::string_view sha256, uint64_t size);

}  // namespace bawn::review
