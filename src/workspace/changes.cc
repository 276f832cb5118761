#include "workspace/changes.h"

#include <algorithm>
#include <cerrno>
#include <unordered_set>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "sys/files.h"
#include "workspace/divergence.h"
#include "workspace/remembered.h"
#include "workspace/walk.h"

namespace bawn::workspace {
namespace {

Result<UniqueFd> OpenUpper(const SandboxDir& dir, const SandboxMeta& meta) {
  Result<UniqueFd> upper = sys::OpenDir(dir.fd.get(), "layers/0/upper", sys::kUntrusted);
  if (upper || upper.error().sys_errno != ENOENT) return upper;
  return Fail(ErrorCode::kNotFound,
              "sandbox " + meta.name + " has no changes any more (state: " + meta.state + ")",
              "`bawn list` shows the sandboxes that have some", "workspace.no_changes");
}

// The user's tree must be the directory that was opened, not one that took its place.
Result<UniqueFd> OpenLower(const SandboxMeta& meta) {
  auto gone = [&](const std::string& why) {
    return Fail(ErrorCode::kFailedPrecondition,
                "the workspace " + EscapeName(meta.workspace_path) + " " + why,
                "put the directory back where it was, or `bawn discard` the sandbox",
                "workspace.replaced");
  };
  Result<UniqueFd> lower =
      sys::OpenDir(AT_FDCWD, meta.workspace_path, sys::kNoSymlinks | sys::kNoMagiclinks);
  if (!lower) return gone("cannot be opened: " + lower.error().message);
  sys::FileStat st = BAWN_TRY(sys::Fstat(lower->get()));
  if (st.dev != meta.workspace_dev || st.ino != meta.workspace_ino) {
    return gone("is not the directory that the sandbox was opened on");
  }
  return lower;
}

}  // namespace

Result<ChangeSet> ReadChanges(const SandboxDir& dir, const SandboxMeta& meta,
                              const ReadOptions& options) {
  ChangeSet set;
  set.upper = BAWN_TRY(OpenUpper(dir, meta));
  set.lower = BAWN_TRY(OpenLower(meta));
  Remembered remembered = BAWN_TRY(ReadRemembered(dir));
  Divergence divergence = BAWN_TRY(Divergence::Make(meta, set.lower.get(), remembered));
  std::unordered_set<std::string> covered(meta.covered.begin(), meta.covered.end());
  Result<UniqueFd> initial = sys::OpenDir(dir.fd.get(), "initial", sys::kUntrusted);
  if (!initial && initial.error().sys_errno != ENOENT) {
    return std::unexpected(std::move(initial).error());
  }

  WalkInput input;
  input.upper_fd = set.upper.get();
  input.lower_fd = set.lower.get();
  input.initial_fd = initial ? initial->get() : -1;
  input.whole_copy = meta.rung != "overlay";
  input.copied_at_ns = meta.extra.GetInt("copied_at_ns");
  input.covered = &covered;
  input.divergence = &divergence;
  input.remembered = &remembered;
  input.options = options;
  WalkOutput walked = BAWN_TRY(WalkChanges(input));

  set.changes = std::move(walked.changes);
  set.base_changed_since_open = walked.base_changed;
  set.copied_up_bytes = walked.copied_up_bytes;
  std::ranges::sort(set.changes, {}, &Change::path);
  if (options.hash) set.digest = DigestOf(set.changes);
  return set;
}

std::string DigestOf(const std::vector<Change>& changes) {
  Sha256 sha;
  std::string row;
  auto number = [&row](uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) row += static_cast<char>(value >> (8 * i) & 0xff);
  };
  auto text = [&](std::string_view value) {
    number(value.size(), 4);
    row += value;
  };
  sha.Update("bawn changes 1\n");
  for (const Change& change : changes) {
    row.clear();
    text(change.path);
    number(static_cast<uint64_t>(change.kind), 1);
    number(static_cast<uint64_t>(change.new_type), 1);
    number(change.new_mode, 4);
    text(change.new_sha256);
    text(change.problem);
    sha.Update(row);
  }
  return sha.Hex();
}

std::string_view ChangeKindName(ChangeKind kind) {
  constexpr std::string_view kNames[] = {"added", "modified", "deleted"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view EntryTypeName(EntryType type) {
  constexpr std::string_view kNames[] = {"none", "file", "symlink", "directory", "special"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace bawn::workspace
