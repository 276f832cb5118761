#include "sys/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace bawn::sys {
namespace {

// One past the last capability that any kernel can have (two 32-bit words).
constexpr unsigned kCapabilitiesMax = 64;

using Data = std::array<__user_cap_data_struct, 2>;

Result<Data> GetCaps() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  Data data = {};
  if (syscall(SYS_capget, &header, data.data()) < 0) return FailErrno(errno, "capget");
  return data;
}

Result<> SetCaps(const Data& data) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  if (syscall(SYS_capset, &header, data.data()) < 0) return FailErrno(errno, "capset");
  return {};
}

uint64_t Join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

}  // namespace

Result<CapabilitySets> ReadCapabilities() {
  Data data = BAWN_TRY(GetCaps());
  CapabilitySets sets;
  sets.effective = Join(data[0].effective, data[1].effective);
  sets.permitted = Join(data[0].permitted, data[1].permitted);
  sets.inheritable = Join(data[0].inheritable, data[1].inheritable);
  for (unsigned cap = 0; cap < kCapabilitiesMax; ++cap) {
    int bounding = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
    if (bounding < 0) break;  // EINVAL: past the kernel's last one
    if (bounding == 1) sets.bounding |= uint64_t{1} << cap;
    // Ambient is a subset of permitted (capabilities(7)): only those need asking.
    if ((sets.permitted >> cap & 1) == 0) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1) {
      sets.ambient |= uint64_t{1} << cap;
    }
  }
  return sets;
}

Result<> RaiseAmbientCapabilities() {
  Data data = BAWN_TRY(GetCaps());
  for (auto& half : data) half.inheritable = half.permitted;
  BAWN_CHECK_OK(SetCaps(data));
  uint64_t permitted = Join(data[0].permitted, data[1].permitted);
  for (unsigned cap = 0; cap < kCapabilitiesMax; ++cap) {
    if ((permitted >> cap & 1) == 0) continue;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0) {
      return FailErrno(errno, "prctl(PR_CAP_AMBIENT_RAISE)");
    }
  }
  return {};
}

Result<> DropAllCapabilities() {
  for (unsigned cap = 0; cap < kCapabilitiesMax; ++cap) {
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0) continue;
    if (errno == EINVAL && cap > 0) break;  // past the kernel's last one
    return FailErrno(errno, "prctl(PR_CAPBSET_DROP)");
  }
  return SetCaps(Data{});
}

int SeccompMode() { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0); }

}  // namespace bawn::sys
