#include "git/pack_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "sys/files.h"

namespace bawn::git {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr uint32_t kMode = 0444;  // as git's
constexpr const char* kUnnamed[] = {"new.pack", "new.idx"};
constexpr size_t kObjectBytesMax = size_t{2} << 30;
constexpr uint64_t kSmallOffsetMax = 0x7fffffff;

void Append32(std::string& out, uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

unsigned PackType(ObjectKind kind) {
  constexpr unsigned kCommit = 1, kTree = 2, kBlob = 3;
  if (kind == ObjectKind::kCommit) return kCommit;
  return kind == ObjectKind::kTree ? kTree : kBlob;
}

// Type and size: four bits of the size, then seven at a time.
std::string EntryHeader(ObjectKind kind, uint64_t size) {
  std::string header;
  unsigned byte = PackType(kind) << 4 | (size & 0xf);
  for (size >>= 4; size != 0; size >>= 7) {
    header += static_cast<char>(byte | 0x80);
    byte = size & 0x7f;
  }
  header += static_cast<char>(byte);
  return header;
}

const Bytef* Bytes(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

}  // namespace

struct PackFile::Deflater {
  z_stream stream = {};
  std::string out;

  explicit Deflater(int level) { BAWN_ASSERT(deflateInit(&stream, level) == Z_OK); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream); }

  // One zlib stream; valid until the next call.
  std::string_view Run(std::string_view bytes) {
    BAWN_ASSERT(deflateReset(&stream) == Z_OK);
    out.resize(std::max<size_t>(out.size(), deflateBound(&stream, bytes.size())));
    stream.next_in = const_cast<Bytef*>(Bytes(bytes));  // NOLINT: zlib only reads it
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    BAWN_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    return {out.data(), stream.total_out};
  }

  // Every second object of the batch.
  void Share(const std::vector<PackObject>& batch, size_t first, std::vector<std::string>& into) {
    for (size_t i = first; i < batch.size(); i += 2) into[i] = Run(batch[i].bytes);
  }
};

PackFile::PackFile() = default;
PackFile::PackFile(PackFile&&) noexcept = default;
PackFile& PackFile::operator=(PackFile&&) noexcept = default;
PackFile::~PackFile() = default;

Result<PackFile> PackFile::Create(int directory, uint32_t count, int level) {
  PackFile file;
  file.directory_ = directory;
  file.expected_ = count;
  for (auto& one : file.deflaters_) one = std::make_unique<Deflater>(level);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  file.pack_ = BAWN_TRY(sys::Openat2(directory, kUnnamed[0], kFlags, kMode));
  std::string header = "PACK";
  Append32(header, 2);
  Append32(header, count);
  BAWN_CHECK_OK(file.Write(header));
  return file;
}

Result<> PackFile::Write(std::string_view bytes) {
  sha_.Update(bytes);
  written_ += bytes.size();
  buffer_ += bytes;
  return buffer_.size() < kBufferBytes ? Result<>() : Flush();
}

Result<> PackFile::Flush() {
  BAWN_CHECK_OK(sys::WriteAll(pack_.get(), buffer_));
  buffer_.clear();
  return {};
}

Result<> PackFile::Add(const std::vector<PackObject>& batch) {
  for (const PackObject& object : batch) {  // zlib takes 32 bits of a size at once
    if (object.bytes.size() > kObjectBytesMax) {
      return Fail(ErrorCode::kResourceExhausted, "an object of more than 2 GiB");
    }
  }
  std::vector<std::string> deflated(batch.size());
  std::function<void()> second = [&] { deflaters_[1]->Share(batch, 1, deflated); };
  pthread_t thread = {};
  const bool started = pthread_create(
                           &thread, nullptr,
                           [](void* work) -> void* {
                             (*static_cast<std::function<void()>*>(work))();
                             return nullptr;
                           },
                           &second) == 0;
  deflaters_[0]->Share(batch, 0, deflated);
  if (!started) second();
  if (started) BAWN_ASSERT(pthread_join(thread, nullptr) == 0);
  for (size_t i = 0; i < batch.size(); ++i) BAWN_CHECK_OK(AddOne(batch[i], deflated[i]));
  return {};
}

Result<> PackFile::AddOne(const PackObject& object, std::string_view deflated) {
  BAWN_ASSERT(object.oid.size() == Sha1::kBytes);
  const std::string header = EntryHeader(object.kind, object.bytes.size());
  uLong crc = crc32(0, Bytes(header), static_cast<uInt>(header.size()));
  crc = crc32(crc, Bytes(deflated), static_cast<uInt>(deflated.size()));
  rows_.push_back({std::string(object.oid), static_cast<uint32_t>(crc), written_});
  BAWN_CHECK_OK(Write(header));
  return Write(deflated);
}

std::string PackFile::Index(std::string_view pack_checksum) {
  std::ranges::sort(rows_, {}, &Row::oid);
  std::string out("\377tOc", 4);
  Append32(out, 2);
  size_t at = 0;
  for (unsigned first = 0; first < 256; ++first) {
    while (at < rows_.size() && static_cast<unsigned char>(rows_[at].oid[0]) <= first) ++at;
    Append32(out, at);
  }
  for (const Row& row : rows_) out += row.oid;
  for (const Row& row : rows_) Append32(out, row.crc);
  std::string large;
  for (const Row& row : rows_) {
    if (row.offset <= kSmallOffsetMax) {
      Append32(out, row.offset);
      continue;
    }
    Append32(out, 0x80000000U | large.size() / 8);
    Append32(large, row.offset >> 32);
    Append32(large, row.offset & 0xffffffff);
  }
  out += large;
  out += pack_checksum;
  Sha1 sha;
  sha.Update(out);
  return out + sha.Digest();
}

Result<> PackFile::Finish() {
  BAWN_ASSERT(rows_.size() == expected_);
  const std::string checksum = sha_.Digest();
  buffer_ += checksum;
  BAWN_CHECK_OK(Flush());
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  UniqueFd index = BAWN_TRY(sys::Openat2(directory_, kUnnamed[1], kFlags, kMode));
  BAWN_CHECK_OK(sys::WriteAll(index.get(), Index(checksum)));
  // Both under way before either is waited for: most file systems then need one commit for both.
  sys::StartWriting(index.get());
  BAWN_CHECK_OK(sys::Fsync(pack_.get()));
  BAWN_CHECK_OK(sys::Fsync(index.get()));
  const std::string name = "pack-" + ToHex(checksum);
  BAWN_CHECK_OK(sys::Renameat2(directory_, kUnnamed[0], directory_, name + ".pack"));
  return sys::Renameat2(directory_, kUnnamed[1], directory_, name + ".idx");
}

}  // namespace bawn::git
