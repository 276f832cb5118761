#include "sys/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace bawn::sys {

Result<> LowerLimit(Limit limit, uint64_t value) {
  constexpr __rlimit_resource kResources[] = {RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_AS,
                                              RLIMIT_FSIZE};
  __rlimit_resource resource = kResources[static_cast<int>(limit)];
  rlimit present = {};
  if (getrlimit(resource, &present) < 0) return FailErrno(errno, "getrlimit");
  rlim_t wanted = std::min<rlim_t>(value, present.rlim_max);
  rlimit lowered = {wanted, wanted};
  if (setrlimit(resource, &lowered) < 0) return FailErrno(errno, "setrlimit");
  return {};
}

}  // namespace bawn::sys
