// publish/journal.h
// The journal of one apply: what will be done to the user's tree (written and synced before
// anything is), how far it came, and what it replaced. <state>/sb/<id>/journal/<apply id>/:
//   plan.json   the actions, each with what must be there before
//   log         one line per fact, appended: "s N INO" staged, "S" all staged, "b N" a
//               directory is about to be made or removed, "d N WORD" done, "U" taken up after a
//               kill when others had been at work in the tree since, "F"
//   remembered old/N       what action N replaced or removed, kept for undo
// Before "S" a recovery removes what was staged and nothing has happened; after it, it goes
// forward.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sys/files.h"
#include "workspace/changes.h"
#include "workspace/state.h"

namespace bawn::publish {

// In the order in which actions run: what goes away first, then what comes.
enum class ActionKind : uint8_t { kRemove, kRemoveDir, kMakeDir, kPut, kMode };

// What stands at a path; type kNone: nothing.
struct Found {
  workspace::EntryType type = workspace::EntryType::kNone;
  uint32_t mode = 0;  // & 07777
  uint64_t ino = 0;
  uint64_t size = 0;
  int64_t mtime_ns = 0;
};
Found ToFound(const sys::FileStat& st);

struct Action {
  ActionKind kind = ActionKind::kPut;
  std::string path;  // relative to the tree
  Found before;
  workspace::EntryType new_type = workspace::EntryType::kNone;  // kPut: file or symlink
  uint32_t new_mode = 0;                                        // & 0777
  std::string new_sha256;                                       // of content or target
  std::string staging;      // relative path of the name under which new and old wait
  int64_t mtime_ns = 0;     // undo: the time to put back; 0: now
  std::string fingerprint;  // workspace::Fingerprint of the change; empty: none of its own
  bool consented = false;   // went on although the tree changed around an absent name
};

struct Progress {
  std::map<size_t, uint64_t> staged;  // action -> inode
  std::set<size_t> begun;             // mkdir or rmdir, which leave nothing to tell by
  bool all_staged = false;
  bool mixed = false;                  // "U": today's times in the tree tell nothing
  bool finished = false;               // what follows the last action is done too
  std::map<size_t, std::string> done;  // action -> "written" | "diverged" | "failed …"
};

class Journal {
 public:
  struct Header {
    std::string undoes;       // the journal this one takes back; empty for an apply
    bool covers_all = false;  // nothing stays pending: a complete end of it ends the sandbox
  };
  static Result<Journal> Create(const workspace::SandboxDir& dir, const std::string& name,
                                const std::vector<Action>& actions, const Header& header);
  static Result<Journal> Open(const workspace::SandboxDir& dir, const std::string& name);
  // Names of all journals of a sandbox.
  static Result<std::vector<std::string>> List(const workspace::SandboxDir& dir);
  static Result<> Remove(const workspace::SandboxDir& dir, const std::string& name);

  const std::string& name() const { return name_; }
  const Header& header() const { return header_; }
  const std::vector<Action>& actions() const { return actions_; }
  const Progress& progress() const { return progress_; }
  bool AllDone() const { return progress_.done.size() == actions_.size(); }
  // When the run that was cut short wrote its last line.
  int64_t last_line_ns() const { return last_line_ns_; }
  int old_fd() const { return old_.get(); }  // the directory old/

  Result<> NoteStaged(size_t action, uint64_t ino);
  Result<> NoteAllStaged();  // synced
  Result<> NoteBegun(size_t action);
  Result<> NoteDone(size_t action, std::string_view word);
  Result<> NoteMixed();
  Result<> NoteFinished();

 private:
  Result<> OpenFiles(const workspace::SandboxDir& dir, const std::string& name);
  Result<> Append(const std::string& line);
  Result<> ReadLog();
  Result<> ReadFact(std::string_view line);

  std::string name_;
  Header header_;
  std::vector<Action> actions_;
  Progress progress_;
  UniqueFd fd_, old_, log_;
  int64_t last_line_ns_ = 0;
};

}  // namespace bawn::publish
