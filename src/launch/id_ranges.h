// launch/id_ranges.h
// Root mode: one range of host ids per sandbox, leased from Bawn's own subordinate ids under a lock
// (RT-30). A payload of root mode has no host id of any user, and two sandboxes share
// none, so neither reads what the other wrote, kills or traces it, or is counted with it.
//   <state>/ids/lock      flock held while a lease is made or ended
//   <state>/ids/<index>   "SANDBOX OUTER_UID OUTER_GID COUNT\n", written before the range is used
// Recorded as: layer "ids" of the receipt (by the caller).
// NOT protected: a file deep in a sandbox's directory whose record was deleted by hand; Lease looks
// at the upper levels only, Release at the whole directory of its sandbox.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "contain/subids.h"
#include "launch/id_survivors.h"
#include "workspace/state.h"

namespace bawn::launch {

// Ids of one lease. A payload needs one; the others are for the foreign owners and groups that a
// team's tree has (RT-16), of which each gets an id of its own. 1,024 covers the static ids of a
// distribution (0 to 999) in one affine line of the map, and the suggested entry of 2^20 ids then
// has 1,024 leases, far more than sandboxes that one machine holds alive.
inline constexpr uint32_t kIdsPerLease = 1024;

struct IdLease {
  std::string sandbox_id;
  uint32_t outer_uid = 0;
  uint32_t outer_gid = 0;
  uint32_t count = kIdsPerLease;
};

class IdRanges {
 public:
  // kFailedPrecondition when Bawn's entry is absent, too small for one lease or not clear of others
  // (contain/subids.h): root mode does not start then.
  static Result<IdRanges> Open(const workspace::StateDir& state,
                               const contain::SubIdFiles& files = {});

  // The lowest range that no record names and no survivor uses, recorded before it is returned.
  // kResourceExhausted when there is none. kConflict when the sandbox has a lease already.
  Result<IdLease> Lease(const std::string& sandbox_id);

  // Ends a lease after its sandbox: kConflict while a process, IPC object, key or file below
  // <state>/sb/<sandbox_id> has an id of it (the first is named, the record stays); kNotFound when
  // it is not recorded.
  Result<> Release(const std::string& sandbox_id);

  Result<std::vector<IdLease>> List() const;

  // After a crash: releases what belongs to no wanted sandbox and is clean; gives the rest, each
  // with why.
  struct Remaining {
    IdLease lease;
    std::string why;
  };
  Result<std::vector<Remaining>> ReleaseAbandoned(
      const std::function<bool(const std::string& sandbox_id)>& is_wanted);

 private:
  struct Record {
    std::string file;
    IdLease lease;
  };
  IdRanges() = default;
  Result<std::vector<Record>> Records() const;
  Result<UniqueFd> Lock() const;
  Result<std::vector<UsedId>> Survivors(const contain::SubIds& span) const;
  Result<> CheckUnused(const IdLease& lease) const;
  Result<> ReleaseLocked(const std::string& sandbox_id);

  UniqueFd state_;
  UniqueFd ids_;
  contain::SubIds span_;
};

}  // namespace bawn::launch
