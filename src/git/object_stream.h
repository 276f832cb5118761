// git/object_stream.h
// Objects of commits made inside, as a job there printed them with `git cat-file --batch` (RT-11):
//   <oid> SP <type> SP <size> LF <bytes> LF
// The job may lie about everything. Each object is hashed here and must have the name it claims,
// so what is left to check is what the objects say (git/strict_objects.h) and whether they close
// over the trusted repository (publish/inside.h). No git program and no git library parses a byte
// of it: no pack, no index, no delta, no zlib.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "git/repo.h"

namespace bawn::git {

struct StreamLimits {
  uint64_t bytes_max = 512 << 20;  // of the whole stream
  uint64_t objects_max = 500'000;
  uint64_t blob_bytes_max = 256 << 20;
  uint64_t tree_bytes_max = 16 << 20;
  uint64_t commit_bytes_max = 4 << 20;
};

class ObjectStream {
 public:
  // pread(2): fewer bytes than asked for only at the end.
  using ReadAt = std::function<Result<size_t>(char* into, size_t size, uint64_t offset)>;
  static ReadAt FromFd(int fd);  // borrowed; a file that nobody else can write

  struct Object {
    ObjectKind kind = ObjectKind::kBlob;
    uint64_t offset = 0, size = 0;
  };

  // Reads it once from start to end, one object in memory at a time. Whatever is not exactly of
  // that form, a wrong hash, an object that comes twice, one that the job could not find, or more
  // than the limits: kFailedPrecondition with rule "publish.inside_stream".
  static Result<ObjectStream> Open(ReadAt read, const StreamLimits& limits);

  bool IsEmpty() const { return objects_.empty(); }
  size_t size() const { return objects_.size(); }
  // The first object's name: with `git rev-list --topo-order` the commit that all is about.
  const Oid& First() const { return first_; }
  const Object* Find(const Oid& oid) const;  // null: not in the stream
  // Its bytes, read again and hashed again.
  Result<std::string> Read(const Oid& oid, ObjectKind kind) const;

 private:
  explicit ObjectStream(ReadAt read) : read_(std::move(read)) {}
  Result<> Index(const StreamLimits& limits);
  Result<std::string> Bytes(uint64_t offset, uint64_t size) const;

  ReadAt read_;
  Oid first_;
  std::unordered_map<Oid, Object> objects_;
};

}  // namespace bawn::git
