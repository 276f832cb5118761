#include "review/judge.h"

#include <fcntl.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "review/lfs.h"
#include "sys/files.h"

namespace bawn::review {
namespace {

using workspace::EntryType;

constexpr std::string_view kOwnGit = "; apply it, then commit with your own git";
constexpr std::string_view kOwnGitOr = "; or apply it, then commit with your own git";

void Refuse(Reviewed* reviewed, std::string_view rule, std::string why) {
  reviewed->refused = std::move(why);
  reviewed->refused_rule = rule;
}

bool IsDirectory(const workspace::Change& change) {
  return change.new_type == EntryType::kDirectory ||
         (change.new_type == EntryType::kNone && change.old_type == EntryType::kDirectory);
}

uint32_t Bits(git::FileMode mode) { return static_cast<uint32_t>(mode); }

}  // namespace

Result<Judge::Settings> Judge::ReadSettings(git::Repo* repo, bool names_only) {
  Settings settings{.names_only = names_only};
  if (repo == nullptr) return settings;
  settings.file_mode = BAWN_TRY(repo->ConfigBool("core.filemode", true));
  settings.symlinks = BAWN_TRY(repo->ConfigBool("core.symlinks", true));
  const auto safecrlf = BAWN_TRY(repo->ConfigString("core.safecrlf"));
  if (safecrlf && *safecrlf != "warn") {
    settings.refuse_unsafe = BAWN_TRY(repo->ConfigBool("core.safecrlf", false));
  }
  return settings;
}

// As git's ce_mode_from_stat: what the file system cannot say, the commit says (E-22).
uint32_t Judge::ModeOf(EntryType type, uint32_t permissions, const git::TreeEntry* base) const {
  if (type == EntryType::kSymlink) return Bits(git::FileMode::kSymlink);
  if (type != EntryType::kFile) return 0;
  const bool regular = base != nullptr && (base->mode == git::FileMode::kFile ||
                                           base->mode == git::FileMode::kExecutable);
  if (!settings_.symlinks && base != nullptr && base->mode == git::FileMode::kSymlink) {
    return Bits(git::FileMode::kSymlink);
  }
  if (!settings_.file_mode) return Bits(regular ? base->mode : git::FileMode::kFile);
  return Bits((permissions & 0100) != 0 ? git::FileMode::kExecutable : git::FileMode::kFile);
}

void Judge::JudgeName(Reviewed* reviewed) {
  const workspace::Change& change = reviewed->change;
  const bool gone = change.new_type == EntryType::kNone;
  const plan::GateVerdict verdict = plan::JudgePath(change.path);
  // What is removed runs no more; but even removing something from a .git is never ours to do.
  if (!gone || verdict.kind == plan::GateKind::kNever) reviewed->gate = verdict;
  if (gone) return;
  const std::string_view around = change.new_type == EntryType::kDirectory
                                      ? std::string_view(change.path)
                                      : ParentOf(change.path);
  if (!surroundings_.BareRepository(around).empty()) {
    reviewed->gate = plan::BareRepositoryVerdict();
  }
}

Result<bool> Judge::JudgeIgnored(const Reviewed& reviewed, const git::TreeEntry* base) {
  if (source_.repo == nullptr || base != nullptr) return false;  // what is tracked is not ignored
  return source_.repo->IsIgnored(source_.meta.base_commit, reviewed.change.path,
                                 IsDirectory(reviewed.change));
}

Result<> Judge::RefuseForeign(Reviewed* reviewed) {
  const workspace::Change& change = reviewed->change;
  if (const std::string module = BAWN_TRY(base_.SubmoduleOf(change.path)); !module.empty()) {
    Refuse(reviewed, kRuleSubmodule,
           "belongs to the submodule " + EscapeName(module) + std::string(kOwnGit));
  } else if (const std::string nested = surroundings_.NestedRepository(change.path);
             !nested.empty() && source_.repo != nullptr) {
    Refuse(reviewed, kRuleNested,
           "is inside another repository, " + EscapeName(nested) + std::string(kOwnGit));
  }
  return {};
}

Result<> Judge::OldSide(Reviewed* reviewed, const git::TreeEntry* base) {
  if (reviewed->old_git_mode != 0) {
    const auto content = OldContent(source_, *reviewed);
    if (!content && content.error().kind == "denied") {
      reviewed->note = "the old content cannot be read";
      if (base != nullptr) reviewed->old_oid = base->oid;
      return {};
    }
    reviewed->old_oid = git::Repo::HashBlob(BAWN_TRY(content));
  }
  if (base == nullptr) {
    reviewed->dirty_base = reviewed->old_git_mode != 0;  // the user's untracked file
  } else {
    reviewed->dirty_base =
        reviewed->old_oid != base->oid || reviewed->old_git_mode != Bits(base->mode);
  }
  return {};
}

Result<> Judge::NewSide(Reviewed* reviewed) {
  if (reviewed->new_git_mode == 0) return {};
  const workspace::Change& change = reviewed->change;
  const std::string raw = BAWN_TRY(RawNew(source_, change));
  if (change.new_type == EntryType::kSymlink || !BAWN_TRY(IsConverted(source_, *reviewed))) {
    reviewed->new_oid = git::Repo::HashBlob(raw);
    reviewed->new_blob = change.new_bytes;
    return {};
  }
  const git::Oid& commit = source_.meta.base_commit;
  const std::string blob = BAWN_TRY(source_.repo->ToGit(commit, change.path, raw));
  reviewed->new_oid = git::Repo::HashBlob(blob);
  if (change.new_bytes) {
    reviewed->new_blob = blob == raw ? change.new_bytes : std::make_shared<const std::string>(blob);
  }
  if (BAWN_TRY(source_.repo->RoundTrips(commit, change.path, raw))) return {};
  reviewed->note = "a checkout would change its line ends";
  if (settings_.refuse_unsafe) {
    Refuse(reviewed, "publish.safecrlf", "core.safecrlf: " + reviewed->note);
  }
  return {};
}

// RT-08: no driver is ever run, so a path that has one is either unchanged or refused.
Result<> Judge::Filtered(Reviewed* reviewed, const git::TreeEntry* base,
                         const git::Conversion& how) {
  const workspace::Change& change = reviewed->change;
  const bool lfs = how.filter == "lfs";
  std::optional<LfsPointer> pointer;
  if (lfs && base != nullptr && BAWN_TRY(source_.repo->BlobSize(base->oid)) <= 1024) {
    pointer = ParseLfsPointer(BAWN_TRY(source_.repo->ReadBlob(base->oid, 1024)));
  }
  const auto is_base = [&](const std::string& raw) {
    if (base == nullptr) return false;
    if (git::Repo::HashBlob(raw) == base->oid) return true;
    return pointer && pointer->size == raw.size() && pointer->sha256 == Sha256Hex(raw);
  };
  std::string old_raw;
  if (reviewed->old_git_mode != 0) {
    old_raw = BAWN_TRY(OldContent(source_, *reviewed));
    // Whether a driver's file is clean cannot be known without the driver; LFS can be checked.
    const bool clean = base != nullptr && (!lfs || is_base(old_raw));
    reviewed->old_oid = clean ? base->oid : git::Repo::HashBlob(old_raw);
  }
  reviewed->dirty_base = base == nullptr ? reviewed->old_git_mode != 0
                                         : reviewed->old_oid != base->oid ||
                                               reviewed->old_git_mode != Bits(base->mode);
  if (reviewed->new_git_mode == 0) return {};
  const std::string new_raw = BAWN_TRY(RawNew(source_, change));
  if (change.new_type == EntryType::kSymlink) {
    reviewed->new_oid = git::Repo::HashBlob(new_raw);
    return {};
  }
  const bool untouched = change.old_type == EntryType::kFile && new_raw == old_raw;
  if (base != nullptr && (is_base(new_raw) || (!lfs && untouched))) {
    reviewed->new_oid = base->oid;
  } else if (lfs && settings_.lfs && !ParseLfsPointer(new_raw)) {
    reviewed->lfs = true;
    reviewed->new_oid = git::Repo::HashBlob(LfsPointerText(Sha256Hex(new_raw), new_raw.size()));
  } else if (lfs) {
    Refuse(reviewed, "publish.lfs",
           "Git LFS would store it elsewhere: --lfs does so" + std::string(kOwnGitOr));
  } else if (!how.filter.empty()) {
    Refuse(reviewed, "publish.filter",
           "the filter driver '" + EscapeName(how.filter) + "' is not run" + std::string(kOwnGit));
  } else {
    Refuse(reviewed, "publish.encoding",
           "working-tree-encoding " + EscapeName(how.working_tree_encoding) + " is not converted" +
               std::string(kOwnGit));
  }
  return {};
}

Result<> Judge::JudgeSides(Reviewed* reviewed, const git::TreeEntry* base) {
  const workspace::Change& change = reviewed->change;
  if (std::max(change.old_size, change.new_size) > kFileBytesMax) {
    if (base != nullptr) reviewed->old_oid = base->oid;
    if (reviewed->refused.empty() && reviewed->new_git_mode != 0) {
      Refuse(reviewed, "publish.too_big", "is larger than " + FormatBytes(kFileBytesMax));
    }
    return {};
  }
  const bool foreign = !reviewed->refused.empty();
  const bool file = change.old_type == EntryType::kFile || change.new_type == EntryType::kFile;
  if (source_.repo != nullptr && !foreign && file) {
    const git::Conversion how =
        BAWN_TRY(source_.repo->ConversionOf(source_.meta.base_commit, change.path));
    if (!how.filter.empty() || !how.working_tree_encoding.empty()) {
      return Filtered(reviewed, base, how);
    }
  }
  BAWN_CHECK_OK(OldSide(reviewed, base));
  if (foreign || source_.repo == nullptr) reviewed->dirty_base = false;
  return NewSide(reviewed);
}

Result<> Judge::JudgeContents(Reviewed* reviewed) {
  const workspace::Change& change = reviewed->change;
  if (reviewed->gate.kind == plan::GateKind::kNever) return {};
  if (change.new_type == EntryType::kSymlink) {
    const std::string target = BAWN_TRY(RawNew(source_, change));
    const plan::GateVerdict verdict = plan::JudgeSymlink(change.path, target);
    if (verdict.kind != plan::GateKind::kNone) reviewed->gate = verdict;
  }
  const bool open = reviewed->gate.kind != plan::GateKind::kRunsByItself;
  if (change.new_type == EntryType::kFile && open && plan::HasContentGate(change.path) &&
      change.new_size <= kFileBytesMax) {
    const auto before = OldContent(source_, *reviewed);
    const std::string after = BAWN_TRY(RawNew(source_, change));
    const plan::GateVerdict verdict =
        plan::JudgeContent(change.path, before ? std::string_view(*before) : "", after);
    if (verdict.kind != plan::GateKind::kNone) reviewed->gate = verdict;
  }
  return {};
}

// RT-09: an ancestor was touched after T, the object itself was not, and it is still the commit's.
Result<> Judge::JudgeDivergence(Reviewed* reviewed, const git::TreeEntry* base) {
  workspace::Change& change = reviewed->change;
  if (!change.diverged || base == nullptr || reviewed->dirty_base) return {};
  if (reviewed->old_oid.empty() || reviewed->old_oid != base->oid) return {};
  const auto object =
      sys::Openat2(source_.set.lower.get(), change.path, O_PATH | O_NOFOLLOW, 0, sys::kUntrusted);
  if (!object) return {};
  const sys::FileStat now = BAWN_TRY(sys::Fstat(object->get()));
  change.diverged = divergence_.Diverged(change.path, &now, /*ancestor_touched=*/false);
  return {};
}

bool Judge::GoesIntoCommit(const Reviewed& reviewed, const git::TreeEntry* base) const {
  if (source_.repo == nullptr || !reviewed.refused.empty() ||
      reviewed.gate.kind == plan::GateKind::kNever) {
    return false;
  }
  if (base == nullptr) return reviewed.new_git_mode != 0;
  if (settings_.names_only) return true;
  return reviewed.new_git_mode != Bits(base->mode) || reviewed.new_oid != base->oid;
}

Result<Reviewed> Judge::Path(const workspace::Change& change) {
  Reviewed reviewed;
  reviewed.change = change;
  JudgeName(&reviewed);
  const git::TreeEntry* base = BAWN_TRY(base_.Find(change.path));
  reviewed.old_git_mode = ModeOf(change.old_type, change.old_mode, base);
  reviewed.new_git_mode = ModeOf(change.new_type, change.new_mode, base);
  reviewed.ignored = BAWN_TRY(JudgeIgnored(reviewed, base));
  if (reviewed.ignored) return reviewed;  // nothing of it is read: there may be 100,000 of them
  if (!change.problem.empty()) {
    Refuse(&reviewed, "publish.problem", change.problem);
    return reviewed;
  }
  BAWN_CHECK_OK(RefuseForeign(&reviewed));
  // A listing of names reads no content, but where only the mode may differ and git does not look
  // at modes here (E-22): then content decides whether the path changed at all.
  bool perhaps_only_mode = !settings_.file_mode && change.old_type == change.new_type &&
                           change.old_size == change.new_size && change.old_mode != change.new_mode;
  if (!settings_.names_only || perhaps_only_mode) {
    BAWN_CHECK_OK(JudgeSides(&reviewed, base));
    BAWN_CHECK_OK(JudgeContents(&reviewed));
    BAWN_CHECK_OK(JudgeDivergence(&reviewed, base));
  }
  reviewed.in_commit = GoesIntoCommit(reviewed, base);
  return reviewed;
}

}  // namespace bawn::review
