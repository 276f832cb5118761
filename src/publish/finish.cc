#include "publish/finish.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "publish/target.h"
#include "sys/files.h"
#include "workspace/remembered.h"

namespace bawn::publish {
namespace {

bool CarriedOut(const std::string& word) { return word == "written" || word == "already"; }

// The object in the layer, for telling later without reading it that it is still the same.
workspace::Remembered::Carried CarriedAs(int upper_fd, const std::string& path,
                                         std::string fingerprint) {
  workspace::Remembered::Carried carried{std::move(fingerprint), 0, 0};
  Result<UniqueFd> fd = upper_fd < 0
                            ? Result<UniqueFd>(Fail(ErrorCode::kNotFound, ""))
                            : sys::Openat2(upper_fd, path, O_PATH | O_NOFOLLOW, 0, sys::kUntrusted);
  if (!fd) return carried;
  Result<sys::FileStat> st = sys::Fstat(fd->get());
  if (st && !st->IsWhiteout()) {
    carried.ino = st->ino;
    carried.ctime_ns = st->ctime_ns;
  }
  return carried;
}

void NoteLeft(int tree_fd, const std::string& path, workspace::Remembered& into) {
  Result<UniqueFd> fd =
      sys::Openat2(tree_fd, path.empty() ? "." : path, O_PATH | O_NOFOLLOW, 0, sys::kUntrusted);
  Result<sys::FileStat> st = fd ? sys::Fstat(fd->get()) : Fail(ErrorCode::kNotFound, "");
  if (st) into.left[path] = {st->ino, st->ctime_ns};
  if (!st) into.left.erase(path);
}

Result<> DropOtherJournals(const workspace::SandboxDir& dir, const std::string& keep) {
  for (const std::string& name : BAWN_TRY(Journal::List(dir))) {
    if (name != keep) BAWN_CHECK_OK(Journal::Remove(dir, name));
  }
  return {};
}

Result<> RememberJournal(const workspace::SandboxDir& dir, int tree_fd, const Journal& journal,
                         const std::set<std::string>* ours) {
  auto is_ours = [&](const std::string& path) { return ours == nullptr || ours->contains(path); };
  workspace::Remembered remembered = BAWN_TRY(workspace::ReadRemembered(dir));
  Result<UniqueFd> upper = sys::OpenDir(dir.fd.get(), "layers/0/upper", sys::kUntrusted);
  std::set<std::string> touched_dirs;
  for (size_t i = 0; i < journal.actions().size(); ++i) {
    const Action& action = journal.actions()[i];
    auto word = journal.progress().done.find(i);
    if (word == journal.progress().done.end() || !CarriedOut(word->second)) continue;
    if (!journal.header().undoes.empty()) {
      remembered.carried.erase(action.path);  // pending again
    } else if (!action.fingerprint.empty()) {
      remembered.carried[action.path] =
          CarriedAs(upper ? upper->get() : -1, action.path, action.fingerprint);
    }
    if (is_ours(action.path)) NoteLeft(tree_fd, action.path, remembered);
    if (action.consented) continue;  // the user's own changes around it stay visible as such
    for (std::string at = action.path; !at.empty();) {
      at = Split(at).parent;
      if (is_ours(at)) touched_dirs.insert(at);
    }
  }
  for (const std::string& path : touched_dirs) NoteLeft(tree_fd, path, remembered);
  return workspace::WriteRemembered(dir, remembered);
}

}  // namespace

Result<> EndSandbox(const workspace::SandboxDir& dir, workspace::SandboxMeta& meta,
                    const std::string& state) {
  if (meta.state != state) {
    workspace::SandboxMeta ended = meta;
    ended.state = state;
    ended.kept = false;
    ++ended.rev;
    BAWN_CHECK_OK(workspace::WriteMeta(dir, ended, false));  // on disk before anything is removed
    meta = std::move(ended);  // not before it is written: the changes still stand
  }
  return workspace::EndChanges(dir, meta);
}

Result<> RememberCarried(const workspace::SandboxDir& dir,
                         const std::vector<CarriedPath>& carried) {
  workspace::Remembered remembered = BAWN_TRY(workspace::ReadRemembered(dir));
  UniqueFd upper = BAWN_TRY(sys::OpenDir(dir.fd.get(), "layers/0/upper", sys::kUntrusted));
  for (const CarriedPath& one : carried) {
    remembered.carried[one.path] = CarriedAs(upper.get(), one.path, one.fingerprint);
  }
  return workspace::WriteRemembered(dir, remembered);
}

void RememberInside(workspace::SandboxMeta& meta, const std::string& ref, const std::string& tip,
                    bool moved_base) {
  if (meta.extra.AsObject() == nullptr) meta.extra = JsonObject();
  Json& inside = (*meta.extra.AsObject())["inside"];
  if (inside.AsObject() == nullptr) inside = JsonObject();
  auto add = [&](const std::string& key, const std::string& commit) {
    Json& known = (*inside.AsObject())[key];
    if (known.AsArray() == nullptr) known = JsonArray();
    JsonArray& rows = *known.AsArray();
    bool there = std::ranges::any_of(rows, [&](const Json& one) {
      return one.AsString() != nullptr && *one.AsString() == commit;
    });
    if (!there && !commit.empty()) rows.emplace_back(commit);
  };
  add(ref, tip);
  if (!moved_base) return;
  add(kBaseKey, tip);
  add(kBaseKey, meta.base_commit);
}

Result<> RememberTouched(const workspace::SandboxDir& dir, int tree_fd,
                         const std::vector<std::string>& directories) {
  if (directories.empty()) return {};
  workspace::Remembered remembered = BAWN_TRY(workspace::ReadRemembered(dir));
  for (const std::string& directory : directories) NoteLeft(tree_fd, directory, remembered);
  return workspace::WriteRemembered(dir, remembered);
}

Untouched UntouchedSince(int root_fd, const Journal& journal) {
  // The line follows the act by less than a tick, or the act counts as the user's.
  constexpr int64_t kTickNs = 10'000'000;
  Untouched out;
  for (const Action& action : journal.actions()) {
    for (std::string path : {action.path, Split(action.path).parent}) {
      Result<UniqueFd> fd =
          sys::Openat2(root_fd, path.empty() ? "." : path, O_PATH | O_NOFOLLOW, 0, sys::kUntrusted);
      Result<sys::FileStat> st = fd ? sys::Fstat(fd->get()) : Fail(ErrorCode::kNotFound, "");
      if (!st || st->ctime_ns <= journal.last_line_ns() + kTickNs) {
        out.paths.insert(std::move(path));
      } else {
        out.all = false;
      }
    }
  }
  return out;
}

Result<> FinishJournal(const workspace::SandboxDir& dir, workspace::SandboxMeta& meta, int tree_fd,
                       Journal& journal, const std::set<std::string>* ours) {
  BAWN_ASSERT(journal.AllDone());
  if (journal.progress().finished) return {};
  bool complete = std::ranges::all_of(journal.progress().done,
                                      [](const auto& done) { return CarriedOut(done.second); });
  if (journal.header().covers_all && complete) {
    BAWN_CHECK_OK(EndSandbox(dir, meta, kApplied));
  } else if (!IsEnded(meta.state)) {
    BAWN_CHECK_OK(RememberJournal(dir, tree_fd, journal, ours));
    ++meta.rev;
    BAWN_CHECK_OK(workspace::WriteMeta(dir, meta, true));
  }
  BAWN_CHECK_OK(DropOtherJournals(dir, journal.name()));
  return journal.NoteFinished();
}

}  // namespace bawn::publish
