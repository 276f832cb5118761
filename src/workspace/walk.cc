#include "workspace/walk.h"

#include <cerrno>
#include <optional>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "sys/files.h"
#include "workspace/compare.h"

namespace bawn::workspace {
namespace {

constexpr size_t kHeldMax = 48;  // levels with open descriptors, three each
constexpr uint64_t kKeptBytesMax = 64 << 20;

EntryType TypeOf(const sys::FileStat& st) {
  if (st.IsRegular()) return EntryType::kFile;
  if (st.IsSymlink()) return EntryType::kSymlink;
  if (st.IsDir()) return EntryType::kDirectory;
  return EntryType::kSpecial;
}

using MaybeStat = std::optional<sys::FileStat>;

// Absent is no error here: names are looked up in three trees.
Result<MaybeStat> Look(int dirfd, const std::string& name) {
  if (dirfd < 0) return MaybeStat();
  Result<sys::FileStat> st = sys::Fstatat(dirfd, name);
  if (st) return MaybeStat(*st);
  int why = st.error().sys_errno;
  if (why == ENOENT || why == ENOTDIR || why == EACCES) return MaybeStat();
  return std::unexpected(std::move(st).error());
}

struct Place {  // one name in the three trees
  std::string name;
  std::string path;
  MaybeStat upper, lower, initial;
};

struct Level {
  std::string path;  // "" at the top
  DirMode mode = DirMode::kMerged;
  UniqueFd upper, lower, initial;
  uint64_t upper_ino = 0, lower_ino = 0;  // 0: that side has none
  WidenedMode widened;
  bool touched = false;  // an ancestor in the user's tree changed since T, or this one
  bool protect = false;  // below a covered path
  bool report_empty = false;
  size_t changes_before = 0;
  std::vector<std::string> names;
  size_t next = 0;
};

class Walker {
 public:
  explicit Walker(const WalkInput& input) : in_(input) {}

  Result<WalkOutput> Run() {
    BAWN_CHECK_OK(PushTop());
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.next == level.names.size()) {
        BAWN_CHECK_OK(Leave());
        continue;
      }
      BAWN_CHECK_OK(Visit(level, level.names[level.next++]));
    }
    return std::move(out_);
  }

 private:
  Result<> PushTop();
  Result<> Push(Level level);
  Result<> Leave();
  Result<> HoldAgain(Level& level);
  Result<> ListNames(Level& level);

  Result<> Visit(Level& level, const std::string& name);
  Result<bool> IsBawns(const Level& level, const Place& place);
  Result<bool> SameAsInitial(const Level& level, const Place& place);
  static bool LeftBehindByCopy(const Level& level, const Place& place);
  Result<> VisitGone(const Level& level, const Place& place);
  Result<> VisitDirectory(const Level& level, const Place& place);
  Result<> VisitLeaf(const Level& level, const Place& place);
  Result<> PushGone(const Level& level, const Place& place);

  Change Describe(const Level& level, const Place& place);
  Result<bool> ReadLeaf(const Level& level, const Place& place, Change& change);
  Result<bool> ReadFile(const Level& level, const Place& place, Change& change);
  bool IsCarried(const Place& place, const Change& change) const;
  Result<> Emit(Change change);

  const WalkInput& in_;
  WalkOutput out_;
  uint64_t kept_bytes_ = 0;
  std::vector<Level> levels_;
};

Result<> Walker::PushTop() {
  Level top;
  top.mode = in_.whole_copy ? DirMode::kReplaced : DirMode::kMerged;
  top.upper = BAWN_TRY(sys::Dup(in_.upper_fd));
  top.lower = BAWN_TRY(sys::Dup(in_.lower_fd));
  if (in_.initial_fd >= 0) top.initial = BAWN_TRY(sys::Dup(in_.initial_fd));
  top.touched = in_.divergence->Touched("", BAWN_TRY(sys::Fstat(in_.lower_fd)));
  out_.base_changed = top.touched;
  return Push(std::move(top));
}

Result<> Walker::Push(Level level) {
  level.changes_before = out_.changes.size();
  BAWN_CHECK_OK(ListNames(level));
  levels_.push_back(std::move(level));
  if (levels_.size() > kHeldMax) {
    Level& far = levels_[levels_.size() - 1 - kHeldMax];
    if (far.path.empty()) return {};  // the top's are what the others are opened from
    far.upper.Reset();
    far.lower.Reset();
    far.initial.Reset();
  }
  return {};
}

Result<> Walker::ListNames(Level& level) {
  std::unordered_set<std::string> seen;
  if (level.upper.valid()) {
    for (sys::DirEntry& entry : BAWN_TRY(sys::ListDir(level.upper.get()))) {
      if (level.mode == DirMode::kReplaced) seen.insert(entry.name);
      level.names.push_back(std::move(entry.name));
    }
  }
  if (level.mode != DirMode::kReplaced && level.mode != DirMode::kGone) return {};
  for (sys::DirEntry& entry : BAWN_TRY(sys::ListDir(level.lower.get()))) {
    if (!seen.contains(entry.name)) level.names.push_back(std::move(entry.name));
  }
  return {};
}

Result<> Walker::Leave() {
  Level& level = levels_.back();
  if (level.report_empty && out_.changes.size() == level.changes_before) {
    // A directory that is new and empty; whatever else it holds is Bawn's own.
    Change change;
    change.path = level.path;
    change.kind = ChangeKind::kAdded;
    change.new_type = EntryType::kDirectory;
    change.new_mode = BAWN_TRY(sys::Fstat(level.upper.get())).mode & 07777;
    change.diverged = in_.divergence->Diverged(level.path, nullptr, level.touched);
    if (level.protect) change.problem = "protected";
    BAWN_CHECK_OK(Emit(std::move(change)));
  }
  levels_.pop_back();
  if (levels_.empty()) return {};
  return HoldAgain(levels_.back());
}

Result<> Walker::HoldAgain(Level& level) {
  if (level.upper.valid() || level.lower.valid() || level.path.empty()) return {};
  const Level& top = levels_.front();
  auto open = [&](int root, uint64_t ino, UniqueFd& into) -> Result<> {
    if (ino == 0) return {};
    into = BAWN_TRY(sys::OpenDir(root, level.path, sys::kUntrusted));
    if (BAWN_TRY(sys::Fstat(into.get())).ino == ino) return {};
    return FailFile(ErrorCode::kConflict,
                    EscapeName(level.path) + " was replaced while it was read",
                    "changed_while_reading");
  };
  BAWN_CHECK_OK(open(top.upper.get(), level.upper_ino, level.upper));
  BAWN_CHECK_OK(open(top.lower.get(), level.lower_ino, level.lower));
  if (top.initial.valid()) {
    Result<UniqueFd> initial = sys::OpenDir(top.initial.get(), level.path, sys::kUntrusted);
    if (initial) level.initial = std::move(*initial);
  }
  return {};
}

Result<> Walker::Visit(Level& level, const std::string& name) {
  Place place{name, level.path.empty() ? name : level.path + "/" + name, {}, {}, {}};
  place.upper = BAWN_TRY(Look(level.upper.get(), name));
  place.lower = BAWN_TRY(Look(level.lower.get(), name));
  place.initial = BAWN_TRY(Look(level.initial.get(), name));
  if (BAWN_TRY(IsBawns(level, place))) return {};
  if (place.lower && in_.divergence->Touched(place.path, *place.lower)) out_.base_changed = true;
  if (place.path.size() > kPathBytesMax) {
    Change change = Describe(level, place);
    change.problem = "path_too_long";
    return Emit(std::move(change));
  }
  if (!place.upper || place.upper->IsWhiteout()) return VisitGone(level, place);
  if (place.upper->IsDir()) return VisitDirectory(level, place);
  return VisitLeaf(level, place);
}

// The git directory at the top is never a change; neither is what Bawn put in, unless the payload
// touched a cover, which is then reported as protected.
Result<bool> Walker::IsBawns(const Level& level, const Place& place) {
  if (place.path == ".git") return true;
  if (!place.initial) return false;
  if (place.name == ".git") return true;
  if (!in_.covered->contains(place.path)) return !place.initial->IsDir();
  return place.upper && BAWN_TRY(SameAsInitial(level, place));
}

Result<bool> Walker::SameAsInitial(const Level& level, const Place& place) {
  if (place.upper->IsDir() || place.initial->IsDir()) {
    // A covered directory is empty; its level is walked as protected.
    return false;
  }
  if (!place.upper->IsRegular() || !place.initial->IsRegular() ||
      place.upper->size != place.initial->size) {
    return false;
  }
  Result<UniqueFd> fresh = OpenFileAsOwner(level.upper.get(), place.name);
  Result<UniqueFd> cover = OpenFileAsOwner(level.initial.get(), place.name);
  if (!fresh || !cover) return false;
  Result<Compared> compared = CompareFiles(fresh->get(), *place.upper, cover->get(), false);
  return compared && compared->equal;
}

// A copy holds no sockets, FIFOs and devices, and nothing that its maker might not read: that they
// are missing says nothing.
bool Walker::LeftBehindByCopy(const Level& level, const Place& place) {
  if (TypeOf(*place.lower) == EntryType::kSpecial) return true;
  if (place.lower->IsSymlink()) return false;
  Result<UniqueFd> fd =
      sys::Openat2(level.lower.get(), place.name, O_RDONLY | O_NONBLOCK, 0, sys::kUntrusted);
  return !fd && fd.error().sys_errno == EACCES;
}

Result<> Walker::VisitGone(const Level& level, const Place& place) {
  if (!place.lower) return {};  // a whiteout over nothing
  if (in_.whole_copy && LeftBehindByCopy(level, place)) return {};
  bool covered = in_.covered->contains(place.path);
  Change change = Describe(level, place);
  change.kind = ChangeKind::kDeleted;
  if (covered) change.problem = "protected";
  if (IsCarried(place, change)) return {};
  BAWN_CHECK_OK(Emit(std::move(change)));
  if (!place.lower->IsDir() || covered) return {};
  return PushGone(level, place);
}

Result<> Walker::PushGone(const Level& level, const Place& place) {
  Result<UniqueFd> lower = sys::OpenDir(level.lower.get(), place.name, sys::kUntrusted);
  if (!lower && lower.error().sys_errno == EACCES) {
    // Nobody can say what was below: the deletion of the directory cannot be carried out.
    out_.changes.back().problem = "unreadable";
    return {};
  }
  if (!lower) return std::unexpected(std::move(lower).error());
  Level gone;
  gone.path = place.path;
  gone.mode = DirMode::kGone;
  gone.lower = std::move(*lower);
  gone.lower_ino = place.lower->ino;
  gone.touched = level.touched || in_.divergence->Touched(place.path, *place.lower);
  gone.protect = level.protect;
  if (level.initial.valid() && place.initial && place.initial->IsDir()) {
    gone.initial = BAWN_TRY(sys::OpenDir(level.initial.get(), place.name, sys::kUntrusted));
  }
  return Push(std::move(gone));
}

Result<> Walker::VisitDirectory(const Level& level, const Place& place) {
  OwnedDir upper = BAWN_TRY(OpenDirAsOwner(level.upper.get(), place.name, place.upper->mode));
  Level inner;
  inner.path = place.path;
  inner.protect = level.protect || in_.covered->contains(place.path);
  inner.touched = level.touched;
  bool over_directory = place.lower && place.lower->IsDir() && !inner.protect;
  if (over_directory) {
    inner.lower = BAWN_TRY(
        sys::Openat2(level.lower.get(), place.name, O_PATH | O_DIRECTORY, 0, sys::kUntrusted));
    inner.lower_ino = place.lower->ino;
    inner.touched = level.touched || in_.divergence->Touched(place.path, *place.lower);
    bool replaced = level.mode == DirMode::kReplaced ||
                    sys::HasXattr(upper.fd.get(), "user.overlay.opaque", "y");
    inner.mode = replaced ? DirMode::kReplaced : DirMode::kMerged;
  } else {
    inner.mode = DirMode::kNew;
    inner.report_empty = !place.lower && !inner.protect;
  }
  if (place.initial && place.initial->IsDir()) {
    inner.initial = BAWN_TRY(sys::OpenDir(level.initial.get(), place.name, sys::kUntrusted));
    inner.report_empty = false;
  }
  if (place.lower && !place.lower->IsDir()) {  // a directory took the place of something else
    BAWN_CHECK_OK(Emit(Describe(level, place)));
  }
  inner.upper = std::move(upper.fd);
  inner.upper_ino = place.upper->ino;
  inner.widened = std::move(upper.widened);
  return Push(std::move(inner));
}

Result<> Walker::VisitLeaf(const Level& level, const Place& place) {
  Change change = Describe(level, place);
  if (in_.covered->contains(place.path)) change.problem = "protected";
  bool changed = BAWN_TRY(ReadLeaf(level, place, change));
  if (changed && !IsCarried(place, change)) BAWN_CHECK_OK(Emit(std::move(change)));
  if (place.lower && place.lower->IsDir()) return PushGone(level, place);
  return {};
}

Change Walker::Describe(const Level& level, const Place& place) {
  Change change;
  change.path = place.path;
  bool there = place.upper && !place.upper->IsWhiteout();
  change.kind = place.lower ? ChangeKind::kModified : ChangeKind::kAdded;
  if (place.lower) {
    change.old_type = TypeOf(*place.lower);
    change.old_mode = place.lower->mode & 07777;
    change.old_size = place.lower->IsRegular() ? place.lower->size : 0;
  }
  if (there) {
    change.new_type = TypeOf(*place.upper);
    change.new_mode = place.upper->mode & 07777;
    change.new_size = place.upper->IsRegular() ? place.upper->size : 0;
  }
  change.diverged =
      in_.divergence->Diverged(place.path, place.lower ? &*place.lower : nullptr, level.touched);
  if (level.protect) change.problem = "protected";
  return change;
}

// False: the same as what is below, so no change.
Result<bool> Walker::ReadLeaf(const Level& level, const Place& place, Change& change) {
  bool same_type = change.old_type == change.new_type;
  if (change.new_type == EntryType::kSpecial) {
    if (change.problem.empty()) change.problem = "special_file";
    return !(same_type && place.lower->mode == place.upper->mode &&
             place.lower->rdev == place.upper->rdev);
  }
  if (change.new_type == EntryType::kSymlink) {
    std::string target = BAWN_TRY(sys::Readlinkat(level.upper.get(), place.name));
    change.new_size = target.size();
    if (in_.options.hash) change.new_sha256 = Sha256Hex(target);
    if (!same_type) return true;
    Result<std::string> old = sys::Readlinkat(level.lower.get(), place.name);
    return !old || *old != target;
  }
  return ReadFile(level, place, change);
}

Result<bool> Walker::ReadFile(const Level& level, const Place& place, Change& change) {
  bool comparable = change.old_type == EntryType::kFile && change.old_size == change.new_size;
  bool same_mode = ((change.old_mode ^ change.new_mode) & 0777) == 0;
  auto unchanged = [&] {
    out_.copied_up_bytes += change.new_size;
    return false;
  };
  if (comparable && same_mode && in_.copied_at_ns != 0 &&
      place.upper->ctime_ns < in_.copied_at_ns && place.upper->mtime_ns == place.lower->mtime_ns) {
    return unchanged();
  }
  if (IsCarried(place, change)) return true;  // dropped by the caller without reading it
  if (!comparable && !in_.options.hash) return true;
  auto read = [&]() -> Result<Compared> {
    UniqueFd fresh = BAWN_TRY(OpenFileAsOwner(level.upper.get(), place.name));
    sys::FileStat before = *place.upper;
    if ((before.mode & 0400) == 0) {  // opening it moved its ctime, and only that
      before.ctime_ns = BAWN_TRY(sys::Fstat(fresh.get())).ctime_ns;
    }
    Result<UniqueFd> old = Fail(ErrorCode::kNotFound, "");
    if (comparable) {
      old = sys::Openat2(level.lower.get(), place.name, O_RDONLY | O_NONBLOCK, 0, sys::kUntrusted);
    }
    bool keep = in_.options.hash && change.new_size <= kKeptBytesMax - kept_bytes_;
    return CompareFiles(fresh.get(), before, old ? old->get() : -1, in_.options.hash, keep);
  };
  Result<Compared> compared = read();
  if (!compared) {
    std::string_view kind = AsFileError(compared.error()).kind;
    bool racing = kind == "changed_while_reading" || kind == "not_found";
    if (change.problem.empty()) change.problem = racing ? "changed_while_reading" : "unreadable";
    return true;
  }
  change.new_sha256 = std::move(compared->new_sha256);
  if (compared->equal && same_mode) return unchanged();
  if (compared->new_bytes) {
    kept_bytes_ += compared->new_bytes->size();
    change.new_bytes = std::make_shared<const std::string>(*std::move(compared->new_bytes));
  }
  return true;
}

bool Walker::IsCarried(const Place& place, const Change& change) const {
  auto found = in_.remembered->carried.find(change.path);
  if (found == in_.remembered->carried.end()) return false;
  const Remembered::Carried& carried = found->second;
  bool there = place.upper && !place.upper->IsWhiteout();
  if (there && carried.ino == place.upper->ino && carried.ctime_ns == place.upper->ctime_ns) {
    return true;
  }
  bool known = !change.new_sha256.empty() || change.kind == ChangeKind::kDeleted;
  return known && carried.fingerprint == Fingerprint(change);
}

Result<> Walker::Emit(Change change) {
  if (out_.changes.size() >= in_.options.changes_max) {
    return Fail(ErrorCode::kResourceExhausted,
                "more than " + std::to_string(in_.options.changes_max) + " changed paths",
                "discard the sandbox, or remove what it made with `bawn run --in`");
  }
  out_.changes.push_back(std::move(change));
  return {};
}

}  // namespace

Result<WalkOutput> WalkChanges(const WalkInput& input) { return Walker(input).Run(); }

}  // namespace bawn::workspace
