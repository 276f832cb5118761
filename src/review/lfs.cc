#include "review/lfs.h"

#include <charconv>

namespace bawn::review {

std::optional<LfsPointer> ParseLfsPointer(std::string_view blob) {
  if (blob.size() > 1024 || !blob.starts_with("version https://git-lfs.github.com/spec/")) {
    return std::nullopt;
  }
  LfsPointer pointer;
  bool has_size = false;
  while (!blob.empty()) {
    const size_t end = blob.find('\n');
    std::string_view line = blob.substr(0, end);
    blob.remove_prefix(end == std::string_view::npos ? blob.size() : end + 1);
    constexpr std::string_view kOid = "oid sha256:", kSize = "size ";
    if (line.starts_with(kOid)) pointer.sha256 = line.substr(kOid.size());
    if (line.starts_with(kSize)) {
      line.remove_prefix(kSize.size());
      const auto [rest, error] =
          std::from_chars(line.data(), line.data() + line.size(), pointer.size);
      has_size = error == std::errc() && rest == line.data() + line.size();
    }
  }
  if (pointer.sha256.size() != 64 || !has_size) return std::nullopt;
  return pointer;
}

std::string LfsPointerText(std::string_view sha256, uint64_t size) {
  if (size == 0) return {};
  return "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(sha256) +
         "\nsize " + std::to_string(size) + "\n";
}

}  // namespace bawn::review
