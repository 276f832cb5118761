// workspace/open.h
// Opens a workspace over the user's tree (DESIGN 6, live base): refuses roots that must not be
// opened (RT-02), notes T, pins index and base commit, writes the initial layer (private git
// directory, covers of protected paths), chooses the rung of the ladder, and says which mounts make
// the tree appear. Nothing is mounted here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "workspace/repository.h"
#include "workspace/state.h"

namespace bawn::workspace {

struct OpenRequest {
  std::string root;  // real path of the workspace
  std::optional<Repository> repository;
  GitConfig git_config;
  std::string home;
  std::string state_path;                // Bawn's own directories: the root may not overlap them
  std::vector<std::string> environment;  // of the caller: PWD, XDG_CONFIG_HOME, GIT_*
  std::vector<std::string> protected_paths;  // absolute, of the policy
  std::vector<std::string> protected_names;  // globs on the last component; "!" keeps, last wins
  std::vector<std::string> show;  // protected files inside the tree that stay visible: absolute
  bool ephemeral = false;
  // Not 0: where an overlay will do, the changes are held in memory, up to this, and are gone with
  // the sandbox; nothing outside can read them.
  uint64_t memory_bytes = 0, memory_inodes = 0;
  uint32_t uid = 0, gid = 0;                    // the mapped ids
  uint64_t copy_bytes_max = uint64_t{2} << 30;  // ceiling of the copy rungs (RT-02)
  uint64_t copy_entries_max = 200'000;
  bool force_copy = false;  // tests of the ladder; implied by `private_place`
  // Level restricted: nothing can be mounted, so the copy is the workspace where it lies.
  // facts.path is that place, facts.ops is empty, git inside reads the host's object directories.
  bool private_place = false;
};

struct Opened {
  plan::WorkspaceFacts facts;
  SandboxMeta meta;                // workspace part filled in; written by the caller
  std::vector<std::string> notes;  // one line each for stderr: what was covered, what rung and why
};

// The workspace of a command: `-w`, else the top of the enclosing work tree, else `cwd`. Symlinks
// are resolved: two spellings are one workspace (E-21).
Result<std::string> ResolveRoot(const std::string& dash_w, const std::string& cwd,
                                const std::optional<Repository>& repository);

// Refused by name, before the ladder: "/", a home, a system directory, an ancestor of any, anything
// that overlaps a protected path or Bawn's directories.
Result<> CheckRoot(const OpenRequest& request);

// On an error nothing is left but what lies in the sandbox's directory: the caller removes that. A
// repository whose work tree is not `root` itself is not carried along (git is not available
// inside). The pin is the caller's next step, after it wrote meta.json: only then can a recovery
// find it.
Result<Opened> OpenLive(const SandboxDir& dir, const OpenRequest& request);

// The same mounts again for a kept sandbox that is not live (`--in`). kFailedPrecondition when the
// tree is not the one it was opened on, or has become one that could not be opened.
Result<Opened> Reopen(const SandboxDir& dir, const SandboxMeta& meta, const OpenRequest& request);

// After a sandbox's changes were synced to disk: takes away the mark that a volatile mount leaves
// in the work directories (the workspace's and the git directory's), without which the kernel
// refuses to mount the layers again. Only when nothing is mounted from them. May be repeated.
// Source: overlayfs.rst "Volatile mount"; the mark lies below a directory of mode 000.
Result<> ForgetVolatile(const SandboxDir& dir);
// Is the mark there? Then the changes may not all be on disk.
bool IsVolatile(const SandboxDir& dir);

// The pin ref refs/bawn/base/<id> (none for ephemeral): a loose ref written by link(2), removed at
// the sandbox's end and by recovery; also out of packed-refs, where the host's gc may have put it.
// Both may be repeated. A repository that may not be written is left without a pin: nobody can
// publish to it from here either, and OpenLive says so in a note.
Result<> PinBase(const Repository& repository, const std::string& id, const std::string& commit);
Result<> UnpinBase(const std::string& common_dir, const std::string& id);

}  // namespace bawn::workspace
