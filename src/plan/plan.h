// plan/plan.h
// The Plan: the ordered ops, limits and walls of one sandbox, and the JobSpec of one job. Decided
// in policy/ (compile), enforced in contain/ and init/, never reinterpreted there. Only the
// *native* Plan holds host paths; engine interfaces carry it as an opaque sealed descriptor. All
// paths are absolute byte strings without "..", "." or empty components. Sizes are bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/level.h"

namespace bawn::plan {

// A place on the host that an op mounts from. Opened inside the new mount namespace without
// following symlinks; when `ino` is not 0 the object must be that one (the tree was swapped
// otherwise: the build fails). `fd_slot` >= 0 means: not a path but the n-th descriptor handed over
// with the Plan (root mode: detached, id-mapped mounts).
struct Source {
  std::string path;
  uint64_t dev = 0;
  uint64_t ino = 0;
  int32_t fd_slot = -1;
};

enum class OpKind : uint8_t {
  kDir,      // mkdir -p TARGET with `mode`
  kSymlink,  // TARGET -> `content`
  kFile,     // TARGET with `content` and `mode`
  kTmpfs,    // a tmpfs of `size_bytes` and `inodes`, root mode `mode`
  kBind,  // lowers[0] mounted at TARGET: root-owned system directories, devices and our own files
  kOverlay,  // lowers (top first) + `upper` + `work`; lower-only (read-only) when `upper` is empty
  kProc,     // a fresh proc of this pid namespace
  kDevpts,   // a fresh devpts instance
  kMqueue,
  kLast = kMqueue,
};

struct Op {
  OpKind kind = OpKind::kDir;
  std::string target;  // in the view
  std::vector<Source> lowers;
  Source upper;  // with a slot and no `work`: the directory that holds "upper" and "work", since
  Source work;   // the two must lie on one mount
  std::string content;   // kOverlay in memory: a relative directory that is empty in the view
  int64_t mtime_ns = 0;  // kFile: not 0: its modification time
  uint32_t mode = 0755;
  uint64_t size_bytes = 0;  // kTmpfs; kOverlay with neither upper nor work: they are in memory
  uint64_t inodes = 0;
  bool read_only = true;   // kBind: mount attribute (nosuid,nodev always; noexec never)
  bool devices = false;    // kBind of a device node: nodev is left out
  bool recursive = false;  // kBind
  bool optional = false;   // a failure is reported as a fact, not as an error
};

// What a job may do below `path` (in the view), by its Landlock domain.
enum class PathRights : uint8_t {
  kRead,
  kReadExecute,
  kWrite,
  kWriteNoExecute,
  kDevice,
  kLast = kDevice
};
struct LandlockRule {
  std::string path;
  PathRights rights = PathRights::kReadExecute;
};

// Rlimits and lids; 0 means "not set" except where said.
struct ProcessLimits {
  uint64_t core_bytes = 1;  // 1, not 0: RT-22, a pipe core_pattern ignores 0
  uint64_t open_files = 0;
  uint64_t processes = 0;  // RLIMIT_NPROC: counts per user namespace
  uint64_t address_space_bytes = 0;
  uint64_t file_bytes = 0;
  uint64_t user_namespaces_max = 0;  // the lid: 0 forbids all
  uint64_t inotify_watches_max = 65536;
  uint64_t inotify_instances_max = 128;
};

// Limits of the whole tree, held by control groups at `bounded` only; 0 means "not set".
struct TreeLimits {
  uint64_t memory_bytes = 0;
  uint64_t pids = 0;  // of the payload: pid 1 and the guards come on top
  uint64_t cpus_milli = 0;
};

// What the canaries need to know of the outside. Everything here must be refused.
struct CanaryTargets {
  std::string outside_file;     // an existing host file the caller can write
  std::string pathname_socket;  // a listening host socket
  std::string abstract_socket;  // a listening abstract name, without the leading NUL
  uint32_t host_pid = 0;        // the witness: a host process of the same uid
};

struct Plan {
  std::string sandbox_id;
  std::string hostname = "bawn";
  Level level = Level::kIsolated;
  uint32_t uid = 0;  // inner and, rootless, outer: the map is identity (RT-22)
  uint32_t gid = 0;
  bool ids_from_range = false;  // root mode: the launcher writes the maps, init takes `uid`/`gid`
  std::vector<Op> ops;          // in order; targets below later targets are hidden by them
  std::vector<LandlockRule> landlock;
  std::vector<std::string> syscall_profiles;  // "browser", "debug"
  ProcessLimits limits;
  TreeLimits tree;
  CanaryTargets canaries;
  bool direct_writes = false;  // an op writes to the host (--rw): no set-user-id files (RT-25)
  bool job_domains = false;    // one Landlock domain and a guard process per job (RT-14)
};

// One job: whatever exec takes. Crosses in a sealed memfd (E-01).
struct JobSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH of `env` when it has no slash
  std::vector<std::string> env;   // "NAME=value"
  std::string cwd;                // in the view
  uint32_t umask = 022;
  bool pty = false;
  uint16_t pty_rows = 0;
  uint16_t pty_columns = 0;
};

}  // namespace bawn::plan
