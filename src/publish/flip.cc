#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "publish/apply_run.h"
#include "publish/target.h"

namespace bawn::publish {
namespace {

using workspace::EntryType;
using MaybeStat = std::optional<sys::FileStat>;

// Size and time tell an edit in place, the inode a replacement. (Not ctime: our own rename moves
// it.)
bool IsAsBefore(const MaybeStat& now, const Found& before) {
  if (!now) return before.type == EntryType::kNone;
  Found found = ToFound(*now);
  return found.type == before.type && found.ino == before.ino && found.size == before.size &&
         found.mtime_ns == before.mtime_ns;
}

class Flipper {
 public:
  Flipper(int root_fd, Journal& journal, const StepHook& step)
      : root_fd_(root_fd), journal_(journal), step_(step) {}

  // The word for the journal. What fails is tried once more, as it would be by the next command
  // after a kill: memory or descriptors may be there again. Then everything of it goes back.
  Result<std::string_view> One(const Action& action, size_t index) {
    Result<std::string_view> word = Try(action, index);
    if (!word) word = Try(action, index);
    if (!word) {
      Result<> back = PutBack(action, index);
      if (!back) word.error().message += "; " + back.error().message;
    }
    return word;
  }

 private:
  Result<std::string_view> Try(const Action& action, size_t index) {
    switch (action.kind) {
      case ActionKind::kRemove:
        return Remove(action, index);
      case ActionKind::kRemoveDir:
        return RemoveDir(action, index);
      case ActionKind::kMakeDir:
        return MakeDir(action, index);
      case ActionKind::kPut:
        return Put(action, index);
      case ActionKind::kMode:
        return Mode(action);
    }
    return Fail(ErrorCode::kInternal, "unknown action");
  }
  Result<> PutBack(const Action& action, size_t index);
  Result<std::string_view> Put(const Action& action, size_t index);
  Result<std::string_view> PutNew(const Spot& staging, const Spot& place);
  Result<std::string_view> KeepExchanged(const Action& action, size_t index, const Spot& staging,
                                         const Spot& place);
  Result<std::string_view> Remove(const Action& action, size_t index);
  Result<std::string_view> RemoveDir(const Action& action, size_t index);
  Result<std::string_view> MakeDir(const Action& action, size_t index);
  Result<std::string_view> Mode(const Action& action);
  Result<> Keep(const Spot& old, size_t index);
  Result<> KeepByCopy(const Spot& old, const std::string& name);

  int root_fd_;
  Journal& journal_;
  const StepHook& step_;
};

Result<std::string_view> Flipper::Put(const Action& action, size_t index) {
  auto staged = journal_.progress().staged.find(index);
  if (staged == journal_.progress().staged.end()) {
    return Fail(ErrorCode::kInternal, "never staged");
  }
  Spot staging = BAWN_TRY(Spot::Open(root_fd_, action.staging));
  MaybeStat waiting = BAWN_TRY(staging.Look());
  bool is_waiting = waiting && waiting->ino == staged->second;
  Result<Spot> place = Spot::Open(root_fd_, action.path);
  if (!place) return std::unexpected(std::move(place).error());
  MaybeStat now = BAWN_TRY(place->Look());
  if (now && now->ino == staged->second) {  // taken up again after a kill
    if (!waiting) return "written";
    return KeepExchanged(action, index, staging, *place);
  }
  if (!is_waiting) return "diverged";
  if (!IsAsBefore(now, action.before)) {
    BAWN_CHECK_OK(sys::Unlinkat(staging.parent.get(), staging.name));
    return "diverged";
  }
  step_();
  if (!now) return PutNew(staging, *place);
  BAWN_CHECK_OK(Exchange(staging, *place));
  return KeepExchanged(action, index, staging, *place);
}

Result<std::string_view> Flipper::PutNew(const Spot& staging, const Spot& place) {
  Result<> moved = MoveToFreeName(staging, place);
  if (moved) return "written";
  if (moved.error().sys_errno != EEXIST) return std::unexpected(std::move(moved).error());
  BAWN_CHECK_OK(sys::Unlinkat(staging.parent.get(), staging.name));
  return "diverged";
}

// The new object is in place; what was there waits under the staging name.
Result<std::string_view> Flipper::KeepExchanged(const Action& action, size_t index,
                                                const Spot& staging, const Spot& place) {
  step_();
  bool ours = IsAsBefore(BAWN_TRY(staging.Look()), action.before);
  if (ours) {
    BAWN_CHECK_OK(Keep(staging, index));
    return "written";
  }
  BAWN_CHECK_OK(Exchange(staging, place));  // the user's own goes back where it was
  BAWN_CHECK_OK(sys::Unlinkat(staging.parent.get(), staging.name));
  return "diverged";
}

Result<std::string_view> Flipper::Remove(const Action& action, size_t index) {
  Result<Spot> place = Spot::Open(root_fd_, action.path);
  if (!place && place.error().sys_errno == ENOENT) return "already";
  if (!place) return std::unexpected(std::move(place).error());
  Spot staging = BAWN_TRY(Spot::Open(root_fd_, action.staging));
  MaybeStat waiting = BAWN_TRY(staging.Look());
  if (!waiting) {
    MaybeStat now = BAWN_TRY(place->Look());
    if (!now) {
      bool kept = sys::Fstatat(journal_.old_fd(), std::to_string(index)).has_value();
      return kept ? std::string_view("written") : std::string_view("already");
    }
    if (!IsAsBefore(now, action.before)) return "diverged";
    step_();
    BAWN_CHECK_OK(MoveToFreeName(*place, staging));
  }
  step_();
  bool ours = IsAsBefore(BAWN_TRY(staging.Look()), action.before);
  if (ours) {
    BAWN_CHECK_OK(Keep(staging, index));
    return "written";
  }
  BAWN_CHECK_OK(MoveToFreeName(staging, *place));
  return "diverged";
}

Result<std::string_view> Flipper::RemoveDir(const Action& action, size_t index) {
  Result<Spot> place = Spot::Open(root_fd_, action.path);
  if (!place && place.error().sys_errno == ENOENT) return "already";
  if (!place) return std::unexpected(std::move(place).error());
  bool begun = journal_.progress().begun.contains(index);  // in a run that was killed
  if (!begun) BAWN_CHECK_OK(journal_.NoteBegun(index));
  step_();
  Result<> gone = sys::Unlinkat(place->parent.get(), place->name, AT_REMOVEDIR);
  if (gone) return "written";
  switch (gone.error().sys_errno) {
    case ENOENT:
      return begun ? std::string_view("written") : std::string_view("already");
    case ENOTEMPTY:
    case EEXIST:
      return "not_empty";
    case ENOTDIR:
      return "diverged";
    default:
      return std::unexpected(std::move(gone).error());
  }
}

Result<std::string_view> Flipper::MakeDir(const Action& action, size_t index) {
  Spot place = BAWN_TRY(Spot::Open(root_fd_, action.path));
  bool begun = journal_.progress().begun.contains(index);  // in a run that was killed
  if (!begun) BAWN_CHECK_OK(journal_.NoteBegun(index));
  step_();
  Result<> made = sys::Mkdirat(place.parent.get(), place.name, action.new_mode & 0777);
  if (!made && made.error().sys_errno == EEXIST) {
    MaybeStat now = BAWN_TRY(place.Look());
    if (!now || !now->IsDir()) return "diverged";
    if (!begun) return "already";
    made = {};
  }
  if (!made) return std::unexpected(std::move(made).error());
  UniqueFd fd =
      BAWN_TRY(sys::Openat2(place.parent.get(), place.name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  // The set-group bit that a team's directory hands down stays (RT-16).
  uint32_t inherited = BAWN_TRY(sys::Fstat(fd.get())).mode & 02000;
  BAWN_CHECK_OK(sys::FchmodPath(fd.get(), (action.new_mode & 0777) | inherited));
  return "written";
}

Result<std::string_view> Flipper::Mode(const Action& action) {
  Spot place = BAWN_TRY(Spot::Open(root_fd_, action.path));
  UniqueFd fd = BAWN_TRY(sys::Openat2(place.parent.get(), place.name, O_PATH | O_NOFOLLOW));
  sys::FileStat now = BAWN_TRY(sys::Fstat(fd.get()));
  if (!IsAsBefore(now, action.before)) return "diverged";
  step_();
  // Bits above 0777 are the user's own and stay.
  BAWN_CHECK_OK(sys::FchmodPath(fd.get(), (now.mode & 07000) | (action.new_mode & 0777)));
  return "written";
}

// After a failure: what was there returns to its place, what was staged goes. Nothing of the user's
// is ever removed: only an object with the inode that was staged is.
Result<> Flipper::PutBack(const Action& action, size_t index) {
  if (action.kind != ActionKind::kPut && action.kind != ActionKind::kRemove) return {};
  auto staged = journal_.progress().staged.find(index);
  uint64_t own = staged == journal_.progress().staged.end() ? 0 : staged->second;
  Spot staging = BAWN_TRY(Spot::Open(root_fd_, action.staging));
  MaybeStat waiting = BAWN_TRY(staging.Look());
  if (!waiting) return {};
  if (action.kind == ActionKind::kPut && waiting->ino != own) {
    Spot place = BAWN_TRY(Spot::Open(root_fd_, action.path));
    MaybeStat there = BAWN_TRY(place.Look());
    if (!there || there->ino != own) return {};
    BAWN_CHECK_OK(Exchange(staging, place));
    waiting = BAWN_TRY(staging.Look());
  } else if (action.kind == ActionKind::kRemove) {
    return MoveToFreeName(staging, BAWN_TRY(Spot::Open(root_fd_, action.path)));
  }
  if (!waiting || waiting->ino != own) return {};
  return sys::Unlinkat(staging.parent.get(), staging.name);
}

// Takes an old object out of the tree into the journal.
Result<> Flipper::Keep(const Spot& old, size_t index) {
  std::string name = std::to_string(index);
  Result<> moved = sys::Renameat2(old.parent.get(), old.name, journal_.old_fd(), name);
  if (moved || moved.error().sys_errno != EXDEV) return moved;
  BAWN_CHECK_OK(KeepByCopy(old, name));
  step_();
  return sys::Unlinkat(old.parent.get(), old.name);
}

Result<> Flipper::KeepByCopy(const Spot& old, const std::string& name) {
  MaybeStat st = BAWN_TRY(old.Look());
  if (st && st->IsSymlink()) {
    std::string target = BAWN_TRY(sys::Readlinkat(old.parent.get(), old.name));
    Result<> made = sys::Symlinkat(target, journal_.old_fd(), name);
    if (!made && made.error().sys_errno != EEXIST) return made;
    return {};
  }
  std::string part = name + ".part";
  UniqueFd from =
      BAWN_TRY(sys::Openat2(old.parent.get(), old.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  UniqueFd to = BAWN_TRY(
      sys::Openat2(journal_.old_fd(), part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600));
  BAWN_CHECK_OK(sys::CopyContents(from.get(), to.get()));
  BAWN_CHECK_OK(sys::Fsync(to.get()));
  return sys::Renameat2(journal_.old_fd(), part, journal_.old_fd(), name);
}

}  // namespace

Result<> Flip(int root_fd, Journal& journal, const StepHook& step) {
  BAWN_ASSERT(journal.progress().all_staged);
  Flipper flipper(root_fd, journal, step);
  for (size_t i = 0; i < journal.actions().size(); ++i) {
    if (journal.progress().done.contains(i)) continue;
    step();
    Result<std::string_view> word = flipper.One(journal.actions()[i], i);
    step();
    if (word) {
      BAWN_CHECK_OK(journal.NoteDone(i, *word));
    } else {
      BAWN_CHECK_OK(journal.NoteDone(i, "failed " + EscapeName(word.error().message)));
    }
  }
  return {};
}

}  // namespace bawn::publish
