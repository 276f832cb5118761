// workspace/divergence.h
// RT-09: the base of a live workspace was recorded by nobody, so what changed since the sandbox
// opened is decided by ctime, which no program can set. T is CLOCK_REALTIME_COARSE at open, the
// clock that file times are taken from; one tick is allowed for.
//   lower object at the path has ctime >= T - tick           diverged
//   nothing there, or an ancestor directory has such a ctime  suspect
// A suspect path is diverged here; whoever holds the repository may clear it by content (the object
// now in the tree hashes to the base commit's blob), nobody else can.
// NOT seen: a clock stepped back and forth again between two looks; a file system whose server
// assigns times (then nothing is decided, and everything counts as diverged).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/files.h"
#include "workspace/remembered.h"
#include "workspace/state.h"

namespace bawn::workspace {

inline constexpr int64_t kClockTickNs = 10'000'000;  // the coarsest tick in use (CONFIG_HZ=100)

class Divergence {
 public:
  // `lower_fd`: the user's tree.
  static Result<Divergence> Make(const SandboxMeta& meta, int lower_fd,
                                 const Remembered& remembered);

  // Has this object or directory of the user's tree been touched since T?
  bool Touched(const std::string& path, const sys::FileStat& lower) const;
  // `lower` null: nothing is at the path now. `ancestor_touched`: any directory from the root of
  // the tree to the nearest existing parent.
  bool Diverged(const std::string& path, const sys::FileStat* lower, bool ancestor_touched) const;

 private:
  Divergence(int64_t since_ns, bool undecidable, const Remembered& remembered)
      : since_ns_(since_ns), undecidable_(undecidable), remembered_(&remembered) {}
  int64_t since_ns_;
  bool undecidable_;
  const Remembered* remembered_;  // outlives this
};

}  // namespace bawn::workspace
