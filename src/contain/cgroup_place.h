// contain/cgroup_place.h
// Where the control groups of a sandbox go: below the caller's own group, in the v1 hierarchies of
// memory, pids and cpu where there are such, else in v2; and in v2 as well where it is mounted
// beside them (hybrid), for killing and CPU time. Nobody else's groups are touched, and an ordinary
// user has a place exactly where a group was delegated to the login that started Bawn.
// Sources: cgroups(7), proc(5), Documentation/admin-guide/cgroup-v2.rst.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bawn::contain {

struct CgroupPlace {
  std::string directory;  // the caller's own group as a directory
  bool v2 = false;
  bool memory = false, pids = false, cpu = false;  // whose limits are set here
  bool operator==(const CgroupPlace&) const = default;
};

// Pure: from the text of /proc/self/cgroup and /proc/self/mountinfo. Without `cpu` that controller
// is left out: entering a group of it costs a scheduling round (1.5 ms here), and only a limit
// needs it. kUnavailable, naming the controller, when one has no mounted hierarchy.
Result<std::vector<CgroupPlace>> PlacesFrom(std::string_view cgroups, std::string_view mountinfo,
                                            bool cpu);
Result<std::vector<CgroupPlace>> FindCgroupPlaces(bool cpu);

}  // namespace bawn::contain
