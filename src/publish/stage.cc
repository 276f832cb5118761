#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "publish/apply_run.h"
#include "publish/target.h"

namespace bawn::publish {
namespace {

constexpr size_t kChunkBytes = 256 << 10;

Result<> CopyHashed(int from_fd, int to_fd, const Action& action) {
  auto buffer = std::make_unique_for_overwrite<char[]>(kChunkBytes);
  Sha256 sha;
  while (true) {
    size_t got = BAWN_TRY(sys::Read(from_fd, buffer.get(), kChunkBytes));
    if (got == 0) break;
    sha.Update({buffer.get(), got});
    BAWN_CHECK_OK(sys::WriteAll(to_fd, {buffer.get(), got}));
  }
  if (action.new_sha256.empty() || sha.Hex() == action.new_sha256) return {};
  return Fail(ErrorCode::kConflict, EscapeName(action.path) + " is not what was reviewed any more",
              "look at the changes again with `bawn diff`", "publish.digest");
}

Result<uint64_t> StageOne(int root_fd, const Action& action, Content content) {
  Spot spot = BAWN_TRY(Spot::Open(root_fd, action.staging));
  if (action.new_type == workspace::EntryType::kSymlink) {
    BAWN_CHECK_OK(sys::Symlinkat(content.target, spot.parent.get(), spot.name));
    std::optional<sys::FileStat> st = BAWN_TRY(spot.Look());
    return st ? st->ino : 0;
  }
  NewFile file = BAWN_TRY(CreateNameless(spot));
  BAWN_CHECK_OK(CopyHashed(content.file.get(), file.fd.get(), action));
  BAWN_CHECK_OK(sys::Fchmod(file.fd.get(), action.new_mode & 0777));
  if (action.mtime_ns != 0) {
    BAWN_CHECK_OK(sys::Utimensat(AT_FDCWD, "/proc/self/fd/" + std::to_string(file.fd.get()),
                                 action.mtime_ns, 0));
  }
  uint64_t ino = BAWN_TRY(sys::Fstat(file.fd.get())).ino;
  BAWN_CHECK_OK(GiveName(file, spot));
  return ino;
}

}  // namespace

Result<> Stage(int root_fd, Journal& journal, const ContentOf& content, const StepHook& step) {
  const std::vector<Action>& actions = journal.actions();
  for (size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].kind != ActionKind::kPut) continue;
    step();
    Content bytes = BAWN_TRY(content(actions[i], i));
    uint64_t ino = BAWN_TRY(StageOne(root_fd, actions[i], std::move(bytes)));
    step();
    BAWN_CHECK_OK(journal.NoteStaged(i, ino));
  }
  step();
  // Plan, note and bytes, before the first rename: one syncfs where a file by file fsync of a
  // thousand files would cost ten times that (RT-13).
  BAWN_CHECK_OK(sys::Syncfs(root_fd));
  if (BAWN_TRY(sys::Fstat(root_fd)).dev != BAWN_TRY(sys::Fstat(journal.old_fd())).dev) {
    BAWN_CHECK_OK(sys::Syncfs(journal.old_fd()));
  }
  step();
  return journal.NoteAllStaged();
}

std::vector<std::string> StagedInto(int root_fd, const Journal& journal) {
  // A name and its directory get their times in one call, from one clock, a tick apart at most.
  constexpr int64_t kTickNs = 10'000'000;
  std::map<std::string, int64_t> newest;
  for (const Action& action : journal.actions()) {
    if (action.kind != ActionKind::kPut || action.consented) continue;
    Result<Spot> spot = Spot::Open(root_fd, action.staging);
    if (!spot) continue;
    Result<std::optional<sys::FileStat>> st = spot->Look();
    if (!st || !*st) continue;
    int64_t& time = newest[Split(action.staging).parent];
    time = std::max(time, (*st)->ctime_ns);
  }
  std::vector<std::string> ours;
  for (const auto& [directory, time] : newest) {
    Result<sys::FileStat> st = sys::Fstatat(root_fd, directory.empty() ? "." : directory);
    if (st && st->IsDir() && st->ctime_ns <= time + kTickNs) ours.push_back(directory);
  }
  return ours;
}

Result<> RollBack(int root_fd, const Journal& journal) {
  BAWN_ASSERT(!journal.progress().all_staged);
  for (const Action& action : journal.actions()) {
    if (action.kind != ActionKind::kPut) continue;
    Result<Spot> spot = Spot::Open(root_fd, action.staging);
    if (!spot) continue;  // its directory is gone, and with it whatever was staged there
    Result<> gone = sys::Unlinkat(spot->parent.get(), spot->name);
    if (!gone && gone.error().sys_errno != ENOENT) return gone;
  }
  return {};
}

}  // namespace bawn::publish
