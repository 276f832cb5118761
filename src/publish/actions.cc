#include "publish/actions.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "base/ids.h"
#include "base/sha256.h"
#include "base/text.h"
#include "publish/target.h"
#include "workspace/compare.h"
#include "workspace/owner_open.h"
#include "workspace/remembered.h"

namespace bawn::publish {
namespace {

using workspace::Change;
using workspace::ChangeKind;
using workspace::EntryType;

// Removals deepest first, everything else from the top down.
bool Before(const Action& a, const Action& b) {
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.kind == ActionKind::kRemoveDir) return a.path > b.path;
  return a.path < b.path;
}

class Builder {
 public:
  Builder(const workspace::ChangeSet& set, std::string prefix, uint32_t umask_bits)
      : set_(set), prefix_(std::move(prefix)), umask_(umask_bits) {}

  Result<> Add(const Chosen& chosen) {
    const Change& change = *chosen.change;
    Action action;
    action.path = change.path;
    action.consented = chosen.consented;
    action.fingerprint = workspace::Fingerprint(change);
    action.before = BAWN_TRY(Look(change));
    bool was_dir = change.old_type == EntryType::kDirectory;
    if (change.kind == ChangeKind::kDeleted) {
      return Push(action, was_dir ? ActionKind::kRemoveDir : ActionKind::kRemove);
    }
    bool type_changed = change.old_type != EntryType::kNone && change.old_type != change.new_type;
    if (type_changed && (was_dir || change.new_type == EntryType::kDirectory)) {
      BAWN_CHECK_OK(Push(action, was_dir ? ActionKind::kRemoveDir : ActionKind::kRemove));
      action.before = {};
    }
    BAWN_CHECK_OK(AddParents(action));
    uint32_t allowed = ~umask_ | (was_dir ? 0 : change.old_mode);
    action.new_mode = change.new_mode & 0777 & allowed;
    if (chosen.merged != nullptr) {
      action.new_mode = chosen.merged->mode & allowed;
      action.new_type = EntryType::kFile;
      action.new_sha256 = Sha256Hex(chosen.merged->file);
      return Push(action, ActionKind::kPut);
    }
    if (change.new_type == EntryType::kDirectory) return PushDir(action);
    if (BAWN_TRY(OnlyModeChanged(change))) return Push(action, ActionKind::kMode);
    action.new_type = change.new_type;
    action.new_sha256 = change.new_sha256;
    return Push(action, ActionKind::kPut);
  }

  std::vector<Action> Take() {
    std::ranges::sort(actions_, Before);
    for (size_t i = 0; i < actions_.size(); ++i) {
      Action& action = actions_[i];
      if (action.kind != ActionKind::kPut && action.kind != ActionKind::kRemove) continue;
      std::string parent = Split(action.path).parent;
      while (made_.contains(parent)) parent = Split(parent).parent;  // not there yet when staging
      action.staging = (parent.empty() ? "" : parent + "/") + prefix_ + std::to_string(i);
    }
    return std::move(actions_);
  }

 private:
  // What is there now must still be what the change was read against.
  Result<Found> Look(const Change& change) {
    Found found;
    Result<Spot> spot = Spot::Open(set_.lower.get(), change.path);
    if (spot) {
      std::optional<sys::FileStat> st = BAWN_TRY(spot->Look());
      if (st) found = ToFound(*st);
    } else if (spot.error().sys_errno != ENOENT && spot.error().sys_errno != ENOTDIR &&
               spot.error().sys_errno != ELOOP) {
      return std::unexpected(std::move(spot).error());
    }
    bool same = found.type == change.old_type &&
                (found.type != EntryType::kFile || found.size == change.old_size);
    if (same) return found;
    return Fail(ErrorCode::kConflict,
                EscapeName(change.path) + " was changed in the workspace just now",
                "look at the changes again with `bawn diff`", "publish.diverged");
  }

  Result<> Push(Action action, ActionKind kind) {
    action.kind = kind;
    actions_.push_back(std::move(action));
    return {};
  }

  Result<> PushDir(Action action) {
    if (!made_.insert(action.path).second) return {};
    return Push(std::move(action), ActionKind::kMakeDir);
  }

  // Every directory on the way that the tree does not have.
  Result<> AddParents(const Action& action) {
    for (size_t at = action.path.find('/'); at != std::string::npos;
         at = action.path.find('/', at + 1)) {
      std::string parent = action.path.substr(0, at);
      if (known_.contains(parent) || made_.contains(parent)) continue;
      Result<UniqueFd> there =
          sys::Openat2(set_.lower.get(), parent, O_PATH | O_DIRECTORY, 0, sys::kUntrusted);
      if (there) {
        known_.insert(parent);
        continue;
      }
      Action dir;
      dir.path = parent;
      dir.consented = action.consented;
      UniqueFd upper = BAWN_TRY(workspace::OpenPathAsOwner(set_.upper.get(), parent));
      // Whatever the payload chose, its owner can go on using it.
      dir.new_mode = (BAWN_TRY(sys::Fstat(upper.get())).mode & 0777 & ~umask_) | 0700;
      BAWN_CHECK_OK(PushDir(std::move(dir)));
    }
    return {};
  }

  Result<bool> OnlyModeChanged(const Change& change) {
    if (change.old_type != EntryType::kFile || change.new_type != EntryType::kFile ||
        change.old_size != change.new_size) {
      return false;
    }
    Result<UniqueFd> old = workspace::OpenOld(set_, change);
    if (!old) return false;  // unreadable: it is replaced as a whole
    UniqueFd fresh = BAWN_TRY(workspace::OpenNew(set_, change));
    sys::FileStat st = BAWN_TRY(sys::Fstat(fresh.get()));
    return BAWN_TRY(workspace::CompareFiles(fresh.get(), st, old->get(), false)).equal;
  }

  const workspace::ChangeSet& set_;
  std::string prefix_;
  uint32_t umask_;
  std::vector<Action> actions_;
  std::set<std::string> made_, known_;
};

// Does the tree hold at this path what the action wrote?
Result<bool> HoldsWhatWasWritten(const Spot& spot, const Action& action, Found& now) {
  std::optional<sys::FileStat> st = BAWN_TRY(spot.Look());
  now = st ? ToFound(*st) : Found{};
  switch (action.kind) {
    case ActionKind::kRemove:
    case ActionKind::kRemoveDir:
      return !st;
    case ActionKind::kMakeDir:
      return st && st->IsDir();
    case ActionKind::kMode:
      return now.type == EntryType::kFile && now.ino == action.before.ino &&
             now.size == action.before.size && now.mtime_ns == action.before.mtime_ns &&
             (now.mode & 0777) == action.new_mode;
    case ActionKind::kPut:
      break;
  }
  if (now.type != action.new_type) return false;
  if (now.type == EntryType::kSymlink) {
    return Sha256Hex(BAWN_TRY(sys::Readlinkat(spot.parent.get(), spot.name))) == action.new_sha256;
  }
  if ((now.mode & 0777) != action.new_mode) return false;
  UniqueFd fd =
      BAWN_TRY(sys::Openat2(spot.parent.get(), spot.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  return BAWN_TRY(workspace::CompareFiles(fd.get(), *st, -1, true)).new_sha256 == action.new_sha256;
}

// The action that takes `done` back; `now` is what stands there.
Action Reversed(const Action& done, const Found& now) {
  Action back;
  back.path = done.path;
  back.before = now;
  back.new_mode = done.before.mode & 0777;
  back.mtime_ns = done.before.mtime_ns;
  switch (done.kind) {
    case ActionKind::kRemove:
      back.kind = ActionKind::kPut;
      break;
    case ActionKind::kRemoveDir:
      back.kind = ActionKind::kMakeDir;
      break;
    case ActionKind::kMakeDir:
      back.kind = ActionKind::kRemoveDir;
      break;
    case ActionKind::kMode:
      back.kind = ActionKind::kMode;
      break;
    case ActionKind::kPut:
      back.kind = done.before.type == EntryType::kNone ? ActionKind::kRemove : ActionKind::kPut;
      break;
  }
  if (back.kind == ActionKind::kPut) back.new_type = done.before.type;
  return back;
}

Result<std::string> HashOld(const Journal& journal, size_t index, const Action& back) {
  std::string name = std::to_string(index);
  if (back.new_type == EntryType::kSymlink) {
    return Sha256Hex(BAWN_TRY(sys::Readlinkat(journal.old_fd(), name)));
  }
  UniqueFd fd = BAWN_TRY(workspace::OpenFileAsOwner(journal.old_fd(), name));
  sys::FileStat st = BAWN_TRY(sys::Fstat(fd.get()));
  return BAWN_TRY(workspace::CompareFiles(fd.get(), st, -1, true)).new_sha256;
}

}  // namespace

Result<std::vector<Action>> MakeActions(const workspace::ChangeSet& set,
                                        const std::vector<Chosen>& chosen, uint32_t umask_bits) {
  Builder builder(set, NewId(".bawn-") + "-", umask_bits);
  for (const Chosen& one : chosen) BAWN_CHECK_OK(builder.Add(one));
  return builder.Take();
}

Result<UndoPlan> MakeUndo(int root_fd, const Journal& journal) {
  struct Row {
    Action action;
    size_t source;
  };
  std::vector<Row> rows;
  UndoPlan plan;
  std::set<std::string> remade, left;
  auto add = [&](const Action& done, const Found& now, size_t source) -> Result<> {
    Action back = Reversed(done, now);
    if (back.kind == ActionKind::kPut) back.new_sha256 = BAWN_TRY(HashOld(journal, source, back));
    if (back.kind == ActionKind::kMakeDir) remade.insert(back.path);
    rows.push_back({std::move(back), source});
    return {};
  };
  std::map<std::string, size_t> last;  // what went away first made room for another action there
  for (size_t i = 0; i < journal.actions().size(); ++i) last[journal.actions()[i].path] = i;
  for (size_t i = journal.actions().size(); i-- > 0;) {
    const Action& done = journal.actions()[i];
    auto word = journal.progress().done.find(i);
    if (word == journal.progress().done.end() || word->second != "written") continue;
    if (left.contains(done.path)) continue;
    Found now;
    if (last[done.path] != i) {
      BAWN_CHECK_OK(add(done, now, i));
      continue;
    }
    Result<Spot> spot = Spot::Open(root_fd, done.path);
    bool below_removed = !spot && done.kind <= ActionKind::kRemoveDir;
    bool holds = below_removed || (spot && BAWN_TRY(HoldsWhatWasWritten(*spot, done, now)));
    if (holds) {
      BAWN_CHECK_OK(add(done, now, i));
    } else {
      left.insert(done.path);
    }
  }
  plan.left.assign(left.begin(), left.end());
  std::ranges::sort(rows, Before, &Row::action);
  std::string prefix = NewId(".bawn-") + "-";
  for (Row& row : rows) {
    if (row.action.kind == ActionKind::kPut || row.action.kind == ActionKind::kRemove) {
      std::string parent = Split(row.action.path).parent;
      while (remade.contains(parent)) parent = Split(parent).parent;
      row.action.staging =
          (parent.empty() ? "" : parent + "/") + prefix + std::to_string(plan.actions.size());
    }
    plan.actions.push_back(std::move(row.action));
    plan.sources.push_back(row.source);
  }
  return plan;
}

}  // namespace bawn::publish
