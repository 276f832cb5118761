// What a job prints of the commits made inside, and the trees and commits in it (RT-11).
#include "fuzz_target.h"
#include "git/object_stream.h"
#include "git/strict_objects.h"

namespace {

using bawn::git::ObjectKind;
using bawn::git::ObjectStream;

void ReadStream(std::string_view text) {
  auto read = [text](char* into, size_t size, uint64_t offset) -> bawn::Result<size_t> {
    if (offset >= text.size()) return size_t{0};
    return text.copy(into, size, offset);
  };
  auto stream = ObjectStream::Open(read, {});
  if (!stream || stream->IsEmpty()) return;
  const ObjectStream::Object* first = stream->Find(stream->First());
  BAWN_ASSERT(first != nullptr && stream->Read(stream->First(), first->kind));
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text = bawn::Input(data, size);
  ReadStream(text);
  // Mutations seldom keep a hash, so what stands behind that check is tried by itself.
  auto tree = bawn::git::ParseTree(text);
  if (tree) BAWN_ASSERT(tree->size() * 28 <= size);
  auto commit = bawn::git::ParseCommit(text);
  if (commit) {
    std::string written = bawn::git::CommitBytes(*commit);
    auto again = bawn::git::ParseCommit(written);
    BAWN_ASSERT(again && bawn::git::CommitBytes(*again) == written);
  }
  return 0;
}
