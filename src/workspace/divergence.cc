#include "workspace/divergence.h"

#include <time.h>

#include <cstdlib>

#include "base/clock.h"

namespace bawn::workspace {
namespace {

// File systems whose times come from another machine's clock (statfs(2)).
bool TimesFromElsewhere(uint64_t fs_type) {
  switch (fs_type) {
    case 0x6969:      // NFS
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB2
    case 0x65735546:  // FUSE: sshfs, virtiofs and kin
    case 0x01021997:  // 9p
    case 0x5346414f:  // AFS
    case 0x00c36400:  // Ceph
      return true;
    default:
      return false;
  }
}

int64_t BoottimeOffsetNs() {
  timespec boot = {};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  return RealtimeNs() - (int64_t{boot.tv_sec} * 1'000'000'000 + boot.tv_nsec);
}

// A reboot moves the offset too; then it lies after T, and the wall clock simply went on.
bool ClockStepped(const SandboxMeta& meta) {
  if (meta.boottime_offset_ns == 0) return true;  // nobody noted it
  int64_t offset = BoottimeOffsetNs();
  if (offset > meta.opened_at_ns) return false;
  return std::llabs(offset - meta.boottime_offset_ns) > kClockTickNs;
}

}  // namespace

Result<Divergence> Divergence::Make(const SandboxMeta& meta, int lower_fd,
                                    const Remembered& remembered) {
  sys::FsInfo info = BAWN_TRY(sys::Fstatfs(lower_fd));
  bool undecidable = ClockStepped(meta) || TimesFromElsewhere(info.type);
  return Divergence(meta.opened_at_ns - kClockTickNs, undecidable, remembered);
}

bool Divergence::Touched(const std::string& path, const sys::FileStat& lower) const {
  return lower.ctime_ns >= since_ns_ && !remembered_->AsLeft(path, lower);
}

bool Divergence::Diverged(const std::string& path, const sys::FileStat* lower,
                          bool ancestor_touched) const {
  if (lower != nullptr && remembered_->AsLeft(path, *lower)) return false;
  if (lower != nullptr && lower->ctime_ns >= since_ns_) return true;
  return ancestor_touched || undecidable_;
}

}  // namespace bawn::workspace
