#include "sys/landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace bawn::sys {
namespace {

constexpr unsigned kCreateRulesetVersion = 1U << 0;  // LANDLOCK_CREATE_RULESET_VERSION
constexpr int kRulePathBeneath = 1;                  // LANDLOCK_RULE_PATH_BENEATH

// struct landlock_path_beneath_attr, which is packed.
struct __attribute__((packed)) PathBeneath {
  uint64_t allowed_access;
  int32_t parent_fd;
};
static_assert(sizeof(PathBeneath) == 12);
static_assert(sizeof(LandlockRulesetAttr) == 24);

}  // namespace

Result<int> LandlockVersion() {
  long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, kCreateRulesetVersion);
  if (version < 0) return FailErrno(errno, "landlock_create_ruleset(VERSION)");
  return static_cast<int>(version);
}

Result<UniqueFd> LandlockCreateRuleset(const LandlockRulesetAttr& attr) {
  long fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
  if (fd < 0) return FailErrno(errno, "landlock_create_ruleset");
  return UniqueFd(static_cast<int>(fd));  // close-on-exec by the kernel
}

Result<> LandlockAddPathRule(int ruleset_fd, int path_fd, uint64_t access) {
  PathBeneath rule = {access, path_fd};
  if (syscall(SYS_landlock_add_rule, ruleset_fd, kRulePathBeneath, &rule, 0) < 0) {
    return FailErrno(errno, "landlock_add_rule");
  }
  return {};
}

int LandlockRestrictSelf(int ruleset_fd) {
  return syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0 ? errno : 0;
}

}  // namespace bawn::sys
