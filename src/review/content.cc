#include "review/content.h"

#include "base/sha256.h"
#include "base/text.h"
#include "review/lfs.h"

namespace bawn::review {

using workspace::EntryType;

Result<bool> IsConverted(const Source& source, const Reviewed& reviewed) {
  if (source.repo == nullptr || reviewed.refused_rule == kRuleSubmodule ||
      reviewed.refused_rule == kRuleNested) {
    return false;
  }
  const git::Conversion how =
      BAWN_TRY(source.repo->ConversionOf(source.meta.base_commit, reviewed.change.path));
  return how.filter.empty() && how.working_tree_encoding.empty();
}

Result<std::string> RawNew(const Source& source, const workspace::Change& change) {
  if (change.new_bytes) return *change.new_bytes;  // what was hashed
  std::string bytes = BAWN_TRY(workspace::ReadNew(source.set, change, kFileBytesMax));
  if (!change.new_sha256.empty() && Sha256Hex(bytes) != change.new_sha256) {
    Error error;
    error.code = ErrorCode::kConflict;
    error.message = EscapeName(change.path) + " is no longer what was listed";
    error.hint = "something in the sandbox still writes; look at the diff again";
    error.kind = "changed_while_reading";
    return std::unexpected(std::move(error));
  }
  return bytes;
}

Result<std::string> NewContent(const Source& source, const Reviewed& reviewed) {
  const workspace::Change& change = reviewed.change;
  if (change.new_type != EntryType::kFile && change.new_type != EntryType::kSymlink) return "";
  std::string bytes = BAWN_TRY(RawNew(source, change));
  if (reviewed.lfs) return LfsPointerText(Sha256Hex(bytes), bytes.size());
  if (change.new_type == EntryType::kSymlink || !BAWN_TRY(IsConverted(source, reviewed))) {
    return bytes;
  }
  return source.repo->ToGit(source.meta.base_commit, change.path, bytes);
}

Result<std::string> OldContent(const Source& source, const Reviewed& reviewed) {
  const workspace::Change& change = reviewed.change;
  if (change.old_type != EntryType::kFile && change.old_type != EntryType::kSymlink) return "";
  std::string bytes = BAWN_TRY(workspace::ReadOld(source.set, change, kFileBytesMax));
  if (change.old_type == EntryType::kSymlink || !BAWN_TRY(IsConverted(source, reviewed))) {
    return bytes;
  }
  return source.repo->ToGit(source.meta.base_commit, change.path, bytes);
}

}  // namespace bawn::review
