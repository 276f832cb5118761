#include "workspace/index_lookup.h"

#include <string_view>

#include "sys/files.h"
#include "sys/scan.h"

namespace bawn::workspace {
namespace {

constexpr size_t kBlock = 128 << 10;
constexpr size_t kNameMax = 1 << 20;

// A window that grows forward over the file.
class Blocks {
 public:
  explicit Blocks(int fd) : fd_(fd) {}

  // At least `size` bytes from the current place, or an error at the end of the file.
  Result<> Need(size_t size) {
    while (buffer_.size() - at_ < size) {
      buffer_.erase(0, at_);
      at_ = 0;
      size_t had = buffer_.size();
      buffer_.resize(had + kBlock);
      size_t got = BAWN_TRY(sys::Read(fd_, buffer_.data() + had, kBlock));
      buffer_.resize(had + got);
      if (got == 0) return Fail(ErrorCode::kInvalidArgument, "index: ends too early");
    }
    return {};
  }
  Result<uint32_t> U32() {
    BAWN_CHECK_OK(Need(4));
    uint32_t value = Byte(0) << 24 | Byte(1) << 16 | Byte(2) << 8 | Byte(3);
    at_ += 4;
    return value;
  }
  Result<uint32_t> U16() {
    BAWN_CHECK_OK(Need(2));
    uint32_t value = Byte(0) << 8 | Byte(1);
    at_ += 2;
    return value;
  }
  Result<> Skip(size_t size) {
    BAWN_CHECK_OK(Need(size));
    at_ += size;
    return {};
  }
  // Bytes up to a NUL, which is consumed.
  Result<std::string_view> Text() {
    size_t size = 0;
    while (true) {
      size_t end = buffer_.find('\0', at_ + size);
      if (end != std::string::npos) {
        std::string_view text(buffer_.data() + at_, end - at_);
        at_ = end + 1;
        return text;
      }
      size = buffer_.size() - at_;
      if (size > kNameMax) return Fail(ErrorCode::kInvalidArgument, "index: a name too long");
      BAWN_CHECK_OK(Need(size + 1));
    }
  }
  // git's offset encoding of version 4 (varint.c).
  Result<uint64_t> Varint() {
    uint64_t value = 0;
    for (int i = 0; i < 9; ++i) {
      BAWN_CHECK_OK(Need(1));
      uint32_t byte = Byte(0);
      ++at_;
      value = (i == 0 ? 0 : value + 1) << 7 | (byte & 0x7F);
      if ((byte & 0x80) == 0) return value;
    }
    return Fail(ErrorCode::kInvalidArgument, "index: a number too long");
  }

 private:
  uint32_t Byte(size_t i) const { return static_cast<unsigned char>(buffer_[at_ + i]); }
  int fd_;
  std::string buffer_;
  size_t at_ = 0;
};

struct Entry {
  std::string name;
};

Result<> ReadEntry(Blocks* blocks, uint32_t version, size_t hash_size, Entry* entry) {
  constexpr size_t kStatBytes = 40;
  constexpr uint32_t kExtended = 0x4000;
  BAWN_CHECK_OK(blocks->Skip(kStatBytes + hash_size));
  uint32_t flags = BAWN_TRY(blocks->U16());
  size_t fixed = kStatBytes + hash_size + 2;
  if (version >= 3 && (flags & kExtended) != 0) {
    BAWN_CHECK_OK(blocks->Skip(2));
    fixed += 2;
  }
  if (version == 4) {
    uint64_t strip = BAWN_TRY(blocks->Varint());
    if (strip > entry->name.size()) return Fail(ErrorCode::kInvalidArgument, "index: bad prefix");
    entry->name.resize(entry->name.size() - strip);
    entry->name += BAWN_TRY(blocks->Text());
    return {};
  }
  entry->name = BAWN_TRY(blocks->Text());
  // One to eight NULs fill up to a multiple of eight; the first is consumed already.
  size_t length = fixed + entry->name.size();
  size_t padding = 8 - length % 8;
  return blocks->Skip(padding - 1);
}

}  // namespace

Result<std::vector<std::string>> FindInIndex(int index_fd, bool sha256,
                                             const std::vector<std::string>& paths) {
  Blocks blocks(index_fd);
  uint32_t magic = BAWN_TRY(blocks.U32());
  uint32_t version = BAWN_TRY(blocks.U32());
  uint32_t count = BAWN_TRY(blocks.U32());
  if (magic != 0x44495243 /* DIRC */ || version < 2 || version > 4) {
    return Fail(ErrorCode::kInvalidArgument, "index: not of version 2, 3 or 4");
  }
  std::vector<std::string> found;
  Entry entry;
  auto next = paths.begin();
  for (uint32_t i = 0; i < count && next != paths.end(); ++i) {
    BAWN_CHECK_OK(ReadEntry(&blocks, version, sha256 ? 32 : 20, &entry));
    // A split index holds replaced entries first, without a name; they are in the shared file.
    if (entry.name.empty()) continue;
    while (next != paths.end() && *next < entry.name) ++next;
    if (next != paths.end() && *next == entry.name) found.push_back(*next++);
  }
  return found;
}

Result<std::vector<std::string>> SharedIndexes(int git_dir_fd) {
  constexpr size_t kSharedMax = 64;
  std::vector<std::string> names;
  UniqueFd own = BAWN_TRY(sys::OpenDir(git_dir_fd, "."));
  BAWN_CHECK_OK(sys::ForEachEntry(own.get(), [&](const sys::SeenEntry& entry) {
    if (entry.name.starts_with("sharedindex.")) names.emplace_back(entry.name);
    return names.size() < kSharedMax;
  }));
  return names;
}

}  // namespace bawn::workspace
