#include "publish/apply.h"

#include <cerrno>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/ids.h"
#include "base/text.h"
#include "publish/finish.h"
#include "publish/target.h"
#include "sys/files.h"
#include "sys/processes.h"
#include "workspace/divergence.h"
#include "workspace/marker.h"
#include "workspace/owner_open.h"
#include "workspace/remembered.h"
#include "workspace/walk.h"

namespace bawn::publish {
namespace {

using workspace::EntryType;

uint32_t UmaskBits() {
  mode_t bits = umask(0077);  // umask(2) has no call that only reads
  umask(bits);
  return bits;
}

Result<UniqueFd> OpenTree(const workspace::SandboxMeta& meta) {
  UniqueFd tree =
      BAWN_TRY(sys::OpenDir(AT_FDCWD, meta.workspace_path, sys::kNoSymlinks | sys::kNoMagiclinks));
  sys::FileStat st = BAWN_TRY(sys::Fstat(tree.get()));
  if (st.dev == meta.workspace_dev && st.ino == meta.workspace_ino) return tree;
  return Fail(
      ErrorCode::kFailedPrecondition,
      EscapeName(meta.workspace_path) + " is not the directory that the sandbox was opened on",
      "put the directory back where it was", "workspace.replaced");
}

Applied Summary(const Journal& journal) {
  Applied out;
  for (size_t i = 0; i < journal.actions().size(); ++i) {
    const Action& action = journal.actions()[i];
    const std::string& word = journal.progress().done.at(i);
    if (word == "already") continue;
    if (word != "written") {
      out.left.push_back({action.path, word});
    } else if (action.kind == ActionKind::kRemove) {
      ++out.deleted;
    } else if (action.kind == ActionKind::kRemoveDir || action.kind == ActionKind::kMakeDir) {
      ++out.directories;
    } else {
      ++out.written;
    }
  }
  return out;
}

// Nothing of this journal has happened yet. What the one before replaced can be put back again
// (`apply --undo`), so the note names that one first: it may be repeated after a kill -9.
Result<> TakeBack(const workspace::SandboxDir& dir, const Journal& journal, const TreeLock& lock,
                  const TreeNote& note, int root_fd, const StepHook& step) {
  std::vector<std::string> touched = StagedInto(root_fd, journal);
  BAWN_CHECK_OK(RollBack(root_fd, journal));
  BAWN_CHECK_OK(RememberTouched(dir, root_fd, touched));  // the tree's times say so again
  step();
  BAWN_CHECK_OK(lock.WriteNote({note.before_sandbox, note.before_journal}));
  step();
  return Journal::Remove(dir, journal.name());
}

Result<Content> InMemory(std::string_view bytes) {
  Content out;
  out.file = BAWN_TRY(sys::Memfd("bawn-merged"));
  BAWN_CHECK_OK(sys::Pwrite(out.file.get(), bytes, 0));
  return out;
}

// Where the user has been at work since the sandbox opened, a directory's time stays a sign of
// that: what apply does there is not noted over it.
Result<> LeaveTouchedVisible(const ApplyContext& context, int root_fd,
                             std::vector<Action>* actions) {
  workspace::Remembered remembered = BAWN_TRY(workspace::ReadRemembered(context.dir));
  auto divergence = BAWN_TRY(workspace::Divergence::Make(context.meta, root_fd, remembered));
  std::unordered_map<std::string, bool> touched;
  for (Action& action : *actions) {
    for (std::string at = action.path; !at.empty() && !action.consented;) {
      at = Split(at).parent;
      auto [known, fresh] = touched.try_emplace(at, false);
      if (fresh) {
        Result<UniqueFd> fd =
            sys::Openat2(root_fd, at.empty() ? "." : at, O_PATH | O_NOFOLLOW, 0, sys::kUntrusted);
        Result<sys::FileStat> st = fd ? sys::Fstat(fd->get()) : Fail(ErrorCode::kNotFound, "");
        known->second = st && divergence.Touched(at, *st);
      }
      action.consented = known->second;
    }
  }
  return {};
}

// One journal from its plan to its end.
Result<Applied> RunJournal(const ApplyContext& context, const TreeLock& lock, int root_fd,
                           Journal journal, const ContentOf& content) {
  context.step();
  std::optional<TreeNote> before = BAWN_TRY(lock.ReadNote());
  TreeNote note{context.dir.id, journal.name()};
  if (before) note.before_sandbox = before->sandbox;
  if (before) note.before_journal = before->journal;
  BAWN_CHECK_OK(lock.WriteNote(note));
  Result<> staged = Stage(root_fd, journal, content, context.step);
  if (!staged) {
    BAWN_CHECK_OK(TakeBack(context.dir, journal, lock, note, root_fd, context.step));
    return std::unexpected(WithContext(std::move(staged).error(), "nothing was written"));
  }
  Result<> flipped = Flip(root_fd, journal, context.step);
  if (!flipped) flipped = Flip(root_fd, journal, context.step);  // what is done is not repeated
  if (!flipped) {
    Error error = WithContext(std::move(flipped).error(), "the apply is half done");
    error.hint = "the next bawn diff, apply or publish finishes it";
    return std::unexpected(std::move(error));
  }
  context.step();
  BAWN_CHECK_OK(FinishJournal(context.dir, context.meta, root_fd, journal));
  context.step();
  Applied applied = Summary(journal);
  applied.ended = IsEnded(context.meta.state);
  return applied;
}

Result<> TakeUp(const workspace::SandboxDir& dir, workspace::SandboxMeta& meta, bool locked,
                const TreeLock& lock, const TreeNote& note, int root_fd, const StepHook& step) {
  Result<Journal> journal = Journal::Open(dir, note.journal);
  if (!journal && journal.error().sys_errno == ENOENT) return {};  // ended and dropped long ago
  if (!journal) return std::unexpected(std::move(journal).error());
  if (!journal->progress().all_staged) {
    return TakeBack(dir, *journal, lock, note, root_fd, step);
  }
  Untouched ours = UntouchedSince(root_fd, *journal);
  if (journal->progress().mixed) ours.paths.clear();
  if (!ours.all && !journal->progress().mixed) BAWN_CHECK_OK(journal->NoteMixed());
  BAWN_CHECK_OK(Flip(root_fd, *journal, step));
  if (!locked) return {};  // whoever uses that sandbox finishes it
  return FinishJournal(dir, meta, root_fd, *journal, &ours.paths);
}

}  // namespace

JsonArray LeftToJson(const Applied& applied) {
  JsonArray left;
  for (const Applied::Left& one : applied.left) {
    JsonObject row;
    row["path"] = EscapeName(one.path);
    row["why"] = one.why;
    left.emplace_back(std::move(row));
  }
  return left;
}

Result<> Recover(const ApplyContext& context) {
  Result<UniqueFd> tree = OpenTree(context.meta);
  if (!tree) return {};  // no tree, nothing half done that could be looked at
  TreeLock lock = BAWN_TRY(TreeLock::Take(context.state, tree->get()));
  BAWN_CHECK_OK(RecoverTree(context, lock, tree->get()));
  // An end of the sandbox that was cut short.
  if (IsEnded(context.meta.state)) return EndSandbox(context.dir, context.meta, context.meta.state);
  return {};
}

Result<> RecoverTree(const ApplyContext& context, const TreeLock& lock, int root_fd) {
  std::optional<TreeNote> note = BAWN_TRY(lock.ReadNote());
  if (!note || note->journal.empty()) return {};
  if (note->sandbox == context.dir.id) {
    return TakeUp(context.dir, context.meta, true, lock, *note, root_fd, context.step);
  }
  Result<workspace::SandboxDir> other =
      workspace::OpenSandboxDir(context.state, note->sandbox, true);
  bool locked = other.has_value();
  if (!other && other.error().code == ErrorCode::kConflict) {
    other = workspace::OpenSandboxDir(context.state, note->sandbox, false);
  }
  if (!other && other.error().code == ErrorCode::kNotFound) return {};
  if (!other) return std::unexpected(std::move(other).error());
  workspace::SandboxMeta meta = BAWN_TRY(workspace::ReadMeta(*other));
  if (!locked) return TakeUp(*other, meta, locked, lock, *note, root_fd, context.step);
  // Should this be cut short as well, the other one's end is not forgotten.
  UniqueFd marker = BAWN_TRY(workspace::Mark(context.state, note->sandbox));
  BAWN_CHECK_OK(TakeUp(*other, meta, locked, lock, *note, root_fd, context.step));
  return workspace::Unmark(context.state, note->sandbox);
}

Result<Applied> Apply(const ApplyContext& context, const workspace::ChangeSet& set,
                      const std::vector<Chosen>& chosen, bool covers_all) {
  int root = set.lower.get();
  TreeLock lock = BAWN_TRY(TreeLock::Take(context.state, root));
  BAWN_CHECK_OK(RecoverTree(context, lock, root));
  if (IsEnded(context.meta.state)) {
    return Fail(ErrorCode::kFailedPrecondition, "an apply that was cut short has been finished now",
                "nothing of this sandbox is pending any more", "apply.recovered");
  }
  std::vector<Action> actions = BAWN_TRY(MakeActions(set, chosen, UmaskBits()));
  BAWN_CHECK_OK(LeaveTouchedVisible(context, root, &actions));
  context.step();
  Journal journal = BAWN_TRY(
      Journal::Create(context.dir, NewId("apply_"), actions, Journal::Header{"", covers_all}));
  std::unordered_map<std::string_view, const Merged*> merged;
  for (const Chosen& one : chosen) {
    if (one.merged != nullptr) merged[one.change->path] = one.merged;
  }
  auto content = [&](const Action& action, size_t) -> Result<Content> {
    if (auto found = merged.find(action.path); found != merged.end()) {
      return InMemory(found->second->file);
    }
    workspace::Change change;
    change.path = action.path;
    change.new_type = action.new_type;
    Content out;
    if (action.new_type == EntryType::kSymlink) {
      out.target = BAWN_TRY(workspace::ReadNew(set, change, workspace::kPathBytesMax));
    } else {
      out.file = BAWN_TRY(workspace::OpenNew(set, change));
    }
    return out;
  };
  return RunJournal(context, lock, root, std::move(journal), content);
}

Result<Applied> Undo(const ApplyContext& context) {
  UniqueFd tree = BAWN_TRY(OpenTree(context.meta));
  TreeLock lock = BAWN_TRY(TreeLock::Take(context.state, tree.get()));
  BAWN_CHECK_OK(RecoverTree(context, lock, tree.get()));
  std::optional<TreeNote> note = BAWN_TRY(lock.ReadNote());
  Result<Journal> done =
      Fail(ErrorCode::kFailedPrecondition, "there is no apply of this sandbox to take back",
           "`bawn list` shows what was applied", "apply.nothing_to_undo");
  if (note && note->sandbox == context.dir.id) {
    Result<Journal> opened = Journal::Open(context.dir, note->journal);
    if (opened) done = std::move(opened);
  } else if (note && !note->journal.empty()) {
    done.error().message = "a later apply on this workspace came from " + note->sandbox;
    done.error().hint = "take that one back first: bawn apply --undo " + note->sandbox;
  }
  if (!done) return std::unexpected(std::move(done).error());
  UndoPlan plan = BAWN_TRY(MakeUndo(tree.get(), *done));
  Journal journal = BAWN_TRY(Journal::Create(context.dir, NewId("apply_"), plan.actions,
                                             Journal::Header{done->name(), false}));
  auto content = [&](const Action& action, size_t index) -> Result<Content> {
    std::string name = std::to_string(plan.sources[index]);
    Content out;
    if (action.new_type == EntryType::kSymlink) {
      out.target = BAWN_TRY(sys::Readlinkat(done->old_fd(), name));
    } else {
      out.file = BAWN_TRY(workspace::OpenFileAsOwner(done->old_fd(), name));
    }
    return out;
  };
  Applied applied = BAWN_TRY(RunJournal(context, lock, tree.get(), std::move(journal), content));
  for (std::string& path : plan.left) {
    applied.left.push_back({std::move(path), "changed since the apply"});
  }
  return applied;
}

}  // namespace bawn::publish
