// workspace/state.h
// Bawn's own directory (DESIGN 8, "State") and one sandbox's place in it. Everything is held by
// descriptor and verified there (RT-25): 0700, owned by the runner, no symlink, not in a work tree.
//   <state>/sb/<id>/lock             flock held while a keeper or a worker uses it
//   <state>/sb/<id>/meta.json        written by rename
//   <state>/sb/<id>/initial/         what Bawn itself put into the workspace (never in changes)
//   <state>/sb/<id>/layers/0/{upper,work}
//   <state>/sb/<id>/git/{base,upper,work}   a private git directory outside the tree, where needed
//   <state>/sb/<id>/jobs/<job_id>/{receipt.json,out.log,err.log}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace bawn::workspace {

struct StateDir {
  UniqueFd fd;
  std::string path;  // real path
};

// $BAWN_STATE_DIR, else $XDG_STATE_HOME/bawn, else ~/.local/state/bawn (root: /var/lib/bawn); made
// 0700 when absent. A wider mode, a foreign owner, a symlink at the last component or a place
// inside a git work tree is kFailedPrecondition, not repaired.
struct StateEnv {
  std::string bawn_state_dir, xdg_state_home, home;
  uint32_t uid = 0;
};
Result<StateDir> OpenStateDir(const StateEnv& env);

// meta.json as a value. Paths are bytes here and escaped names in the file.
struct SandboxMeta {
  std::string id;
  std::string name;
  std::string workspace_path;
  uint64_t workspace_dev = 0, workspace_ino = 0;
  std::string mode = "live";
  std::string rung;
  int64_t opened_at_ns = 0;         // T of RT-09, CLOCK_REALTIME_COARSE
  int64_t boottime_offset_ns = 0;   // REALTIME - BOOTTIME at T: a later step of the clock shows
  std::string base_commit;          // hex; empty: no commit or no repository
  std::string base_ref;             // "refs/heads/main"; empty: detached or none
  std::string git_dir, common_dir;  // empty: no repository
  bool ephemeral = false;
  bool kept = false;  // has (or may have) changes to review
  std::string state;  // "running" | "ended" | "published" | …
  uint64_t rev = 0;
  std::vector<std::string> command;  // of the last job
  int64_t created_at_ns = 0;
  std::vector<std::string> covered;  // protected paths hidden in the view, relative
  std::string git_target;  // where git/{base,upper} appears; empty: the git dir is in the tree
  std::vector<std::string> object_dirs;  // host object directories behind /.bawn/objects/<n>
  Json extra;  // what other rooms remember (published digests …): an object
};
Json ToJson(const SandboxMeta& meta);
Result<SandboxMeta> MetaFromJson(const Json& json);

struct SandboxDir {
  std::string id;
  UniqueFd fd;
  UniqueFd lock;  // held exclusively; invalid when opened for reading only
  std::string path;
};

// Made under the prefix first and renamed when complete and locked, so nobody meets half of one.
inline constexpr char kNewPrefix[] = ".new_";
// `layers`: with initial and layers/0/{upper,work}, which an ephemeral run may not need.
Result<SandboxDir> CreateSandboxDir(const StateDir& state, const std::string& id,
                                    bool layers = true);
Result<> MakeLayers(const SandboxDir& dir);  // no error where they are there
// kNotFound; kConflict (hint names it live) when `exclusive` and another process holds the lock.
Result<SandboxDir> OpenSandboxDir(const StateDir& state, const std::string& id, bool exclusive);
// Whether somebody holds its lock now: a look, without the short wait of the above.
bool IsHeld(const SandboxDir& dir);
Result<> WriteMeta(const SandboxDir& dir, const SandboxMeta& meta, bool durable);
Result<SandboxMeta> ReadMeta(const SandboxDir& dir);

struct ListedSandbox {
  SandboxMeta meta;
  bool live = false;    // somebody holds the lock
  std::string damaged;  // why meta could not be read; then only meta.id is set
};
// In the order of the directory. A damaged one is listed, never fatal.
Result<std::vector<ListedSandbox>> ListSandboxes(const StateDir& state);
// Removes what a creation that was killed half way left. Safe beside creations going on.
Result<> SweepUnfinished(const StateDir& state);

// What CreateSandboxDir (kNewPrefix) or RemoveSandboxDir began for this id and a kill cut short.
// Call only when nobody is at work on it (workspace/marker.h).
Result<> RemoveHalves(const StateDir& state, const std::string& id);

// Removes a sandbox directory completely: also mode 000, deep nesting, 100,000 files, whatever the
// payload left. Descriptor-relative, follows nothing, crosses no mount.
Result<> RemoveSandboxDir(const StateDir& state, SandboxDir dir);
// The same for any directory `name` in `parent_fd` (also used for stale temporaries).
Result<> RemoveTree(int parent_fd, const std::string& name);

}  // namespace bawn::workspace
