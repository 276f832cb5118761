// git/pack_file.h
// Writes a pack and its index, both of version 2 (gitformat-pack(5)): whole objects, no deltas, in
// the order in which they come. libgit2's own writer inflates and hashes each object a second time;
// that took longer than all else of a publish.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha1.h"
#include "base/unique_fd.h"
#include "git/repo.h"

namespace bawn::git {

struct PackObject {
  ObjectKind kind = ObjectKind::kBlob;
  std::string_view oid;  // the 20 raw bytes of its name
  std::string_view bytes;
};

class PackFile {
 public:
  // In `directory`, where nobody else writes. `level` is zlib's, -1 to 9; `count` objects follow.
  static Result<PackFile> Create(int directory, uint32_t count, int level);
  PackFile(PackFile&&) noexcept;
  PackFile& operator=(PackFile&&) noexcept;
  ~PackFile();

  // Two threads deflate them, where a second one may start. No object twice.
  Result<> Add(const std::vector<PackObject>& batch);
  // Both files complete and on disk: pack-<checksum>.pack and .idx in the directory.
  Result<> Finish();

 private:
  struct Row {
    std::string oid;
    uint32_t crc = 0;
    uint64_t offset = 0;
  };
  struct Deflater;
  PackFile();
  Result<> AddOne(const PackObject& object, std::string_view deflated);
  Result<> Write(std::string_view bytes);
  Result<> Flush();
  std::string Index(std::string_view pack_checksum);

  int directory_ = -1;
  uint32_t expected_ = 0;
  UniqueFd pack_;
  std::unique_ptr<Deflater> deflaters_[2];
  Sha1 sha_;
  std::string buffer_;  // not yet written
  uint64_t written_ = 0;
  std::vector<Row> rows_;
};

}  // namespace bawn::git
