// contain/cgroup.h
// The control groups of one sandbox, one directory per hierarchy, behind one interface whether they
// are v1, v2 or both: limits of the whole tree, what it used, what it ran into, and its end.
// Decided in: policy/limits (Plan::tree). Enforced by: the kernel's controllers. Recorded as: layer
// "cgroup", `limits`, `usage`. NOT protected: what the tree wrote stays in the page cache after it
// and is charged to whoever touches it next.
// Threads: one. Privileges: root, or a user to whom the group that Bawn runs in was delegated.
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "contain/cgroup_place.h"
#include "plan/outcome.h"
#include "plan/plan.h"

namespace bawn::contain {

struct TreeUsage {
  std::optional<uint64_t> memory_peak_bytes, pids_peak, cpu_ms;
};

class Cgroup {
 public:
  // The group's name below each place: "bawn-" + the sandbox's id.
  static std::string NameFor(const std::string& sandbox_id) { return "bawn-" + sandbox_id; }

  // Makes the groups, or nothing. They are removed with the object, unless Release was called.
  static Result<Cgroup> Make(const std::vector<CgroupPlace>& places, const std::string& name);
  // Groups that another process made, by the descriptors of their directories; or, in a recovery,
  // by the directories of which any may be gone.
  static Result<Cgroup> Adopt(std::vector<UniqueFd> directories, const std::string& name);
  static Result<Cgroup> Find(const std::vector<std::string>& directories, const std::string& name);

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) noexcept = default;
  ~Cgroup();

  // Sets each limit and reads it back. `overhead` processes of ours come on top of `pids`.
  Result<> SetLimits(const plan::TreeLimits& limits, uint64_t overhead);
  const std::string& verified_by() const { return verified_by_; }

  // How a child gets in: born in the v2 group, and written into the v1 groups by itself. Another
  // process's number, or cgroup.procs, would wait for the kernel's lock of all thread groups.
  int unified() const;                 // for sys::Clone3Into; -1: none
  std::vector<int> entrances() const;  // of v1, each takes "0"; borrowed
  static Result<> Enter(const std::vector<int>& entrances);
  // Whether `cgroups` (a /proc/PID/cgroup) names this group in every v1 hierarchy that it has, or
  // in v2. A process that was born in the group with a cgroup namespace sees that one as "/": there
  // the parent has to look.
  bool Holds(std::string_view cgroups, bool v2) const;

  std::vector<int> directories() const;  // borrowed
  void Release() { members_.clear(); }   // another process ends them now

  // What becomes ready when the tree runs into a limit; descriptors are borrowed. Nothing does for
  // pids in v1: ask Violated() every kLookMs, too.
  static constexpr int kLookMs = 250;
  const std::vector<pollfd>& watches() const { return polls_; }
  plan::KilledBy Violated();  // memory: somebody was OOM-killed; pids: a fork was refused

  TreeUsage Usage() const;
  // Kills everything in the groups and removes them, at most `deadline_ms`. What is left is named.
  Result<> End(int deadline_ms);

 private:
  struct Member {
    UniqueFd directory;
    UniqueFd parent;
    UniqueFd entrance;
    bool v2 = false, memory = false, pids = false, cpu = false;
  };
  Cgroup() = default;
  Result<> LimitMemory(const Member& member, uint64_t bytes);
  Result<> LimitPids(const Member& member, uint64_t count);
  Result<> LimitCpu(const Member& member, uint64_t milli);
  Result<> SetAndReadBack(const Member& member, const char* file, const std::string& value);
  Result<> Watch(const Member& member);
  void AddWatch(UniqueFd fd, short events);
  void ReadBack(const Member& member);
  void Kill() const;
  bool Empty() const;
  Result<> Remove() const;

  std::string name_;
  std::vector<Member> members_;
  std::vector<UniqueFd> watches_;
  std::vector<pollfd> polls_;  // of watches_, one by one
  std::string verified_by_;
};

// What `bawn doctor` says: makes a group with a limit of each kind, reads back, removes it.
Result<std::string> ProbeCgroup();

}  // namespace bawn::contain
