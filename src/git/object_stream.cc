#include "git/object_stream.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "git/strict_objects.h"
#include "sys/files.h"

namespace bawn::git {
namespace {

// 40 digits, "commit", a size of ten digits, two blanks and the line break need 59.
constexpr size_t kHeaderBytesMax = 64;
constexpr size_t kSizeDigitsMax = 10;

std::unexpected<Error> Malformed(uint64_t offset, std::string_view what) {
  return Fail(ErrorCode::kFailedPrecondition,
              "the commits made inside cannot be read: " + std::string(what) + " (byte " +
                  std::to_string(offset) + " of what git inside printed)",
              "--squash publishes what the tree holds now, as one commit, without them",
              "publish.inside_stream");
}

struct Header {
  Oid oid;
  ObjectKind kind = ObjectKind::kBlob;
  uint64_t size = 0;
};

Result<ObjectKind> KindNamed(std::string_view name, uint64_t offset) {
  if (name == "blob") return ObjectKind::kBlob;
  if (name == "tree") return ObjectKind::kTree;
  if (name == "commit") return ObjectKind::kCommit;
  return Malformed(offset, "an object of a kind that no commit is made of");
}

uint64_t BytesMax(ObjectKind kind, const StreamLimits& limits) {
  switch (kind) {
    case ObjectKind::kBlob:
      return limits.blob_bytes_max;
    case ObjectKind::kTree:
      return limits.tree_bytes_max;
    case ObjectKind::kCommit:
      return limits.commit_bytes_max;
  }
  return 0;
}

// "<oid> <type> <size>", without the line break.
Result<Header> ParseHeader(std::string_view line, uint64_t offset, const StreamLimits& limits) {
  // Also what stands for a listing that broke off (service/collect.cc).
  if (line.ends_with(" missing")) return Malformed(offset, "git inside could not read all of it");
  if (line.size() < 41 || !IsOidText(line.substr(0, 40)) || line[40] != ' ') {
    return Malformed(offset, "a line that names no object");
  }
  Header header;
  header.oid = line.substr(0, 40);
  std::string_view rest = line.substr(41);
  const size_t blank = rest.find(' ');
  if (blank == std::string_view::npos) return Malformed(offset, "a line without a size");
  header.kind = BAWN_TRY(KindNamed(rest.substr(0, blank), offset));
  const std::string_view digits = rest.substr(blank + 1);
  const bool decimal = !digits.empty() && digits.size() <= kSizeDigitsMax &&
                       std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }) &&
                       (digits.size() == 1 || digits[0] != '0');
  if (!decimal) return Malformed(offset, "a size that is no number");
  std::from_chars(digits.data(), digits.data() + digits.size(), header.size);
  if (header.size > BytesMax(header.kind, limits)) {
    return Malformed(offset, "object " + header.oid + " has " + FormatBytes(header.size));
  }
  return header;
}

}  // namespace

ObjectStream::ReadAt ObjectStream::FromFd(int fd) {
  return [fd](char* into, size_t size, uint64_t offset) -> Result<size_t> {
    size_t used = 0;
    while (used < size) {
      const size_t got = BAWN_TRY(sys::Pread(fd, into + used, size - used, offset + used));
      if (got == 0) break;
      used += got;
    }
    return used;
  };
}

Result<ObjectStream> ObjectStream::Open(ReadAt read, const StreamLimits& limits) {
  ObjectStream stream(std::move(read));
  BAWN_CHECK_OK(stream.Index(limits));
  return stream;
}

Result<std::string> ObjectStream::Bytes(uint64_t offset, uint64_t size) const {
  // Nothing is set aside for a size that the job only claims.
  if (size > 0) {
    char last = 0;
    if (BAWN_TRY(read_(&last, 1, offset + size - 1)) != 1) {
      return Malformed(offset, "it ends in the middle of an object");
    }
  }
  std::string bytes(size, '\0');
  if (BAWN_TRY(read_(bytes.data(), size, offset)) != size) {
    return Malformed(offset, "it ends in the middle of an object");
  }
  return bytes;
}

Result<> ObjectStream::Index(const StreamLimits& limits) {
  uint64_t offset = 0;
  while (true) {
    char head[kHeaderBytesMax];
    const size_t got = BAWN_TRY(read_(head, sizeof head, offset));
    if (got == 0) return {};
    const std::string_view line(head, got);
    const size_t end = line.find('\n');
    if (end == std::string_view::npos) return Malformed(offset, "a line that does not end");
    const Header header = BAWN_TRY(ParseHeader(line.substr(0, end), offset, limits));
    const uint64_t start = offset + end + 1;
    if (start + header.size + 1 > limits.bytes_max || objects_.size() >= limits.objects_max) {
      return Malformed(offset, "they are larger than " + FormatBytes(limits.bytes_max) + " or " +
                                   std::to_string(limits.objects_max) + " objects");
    }
    const std::string bytes = BAWN_TRY(Bytes(start, header.size));
    char after = 0;
    if (BAWN_TRY(read_(&after, 1, start + header.size)) != 1 || after != '\n') {
      return Malformed(start + header.size, "an object that is longer than was said");
    }
    if (Repo::HashObject(header.kind, bytes) != header.oid) {
      return Malformed(offset, "object " + header.oid + " is not what its name says");
    }
    if (!objects_.try_emplace(header.oid, Object{header.kind, start, header.size}).second) {
      return Malformed(offset, "object " + header.oid + " comes twice");
    }
    if (first_.empty()) first_ = header.oid;
    offset = start + header.size + 1;
  }
}

const ObjectStream::Object* ObjectStream::Find(const Oid& oid) const {
  const auto at = objects_.find(oid);
  return at == objects_.end() ? nullptr : &at->second;
}

Result<std::string> ObjectStream::Read(const Oid& oid, ObjectKind kind) const {
  const Object* object = Find(oid);
  if (object == nullptr) return Malformed(0, "object " + oid + " is missing");
  if (object->kind != kind) {
    return Malformed(object->offset, "object " + oid + " is of another kind than its user says");
  }
  std::string bytes = BAWN_TRY(Bytes(object->offset, object->size));
  if (Repo::HashObject(kind, bytes) != oid) {
    return Malformed(object->offset, "object " + oid + " changed while it was read");
  }
  return bytes;
}

}  // namespace bawn::git
