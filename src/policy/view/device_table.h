// policy/view/device_table.h
// /dev, /proc, /sys and the private places of every sandbox. Data.
// Device nodes are bound from the host (a user namespace cannot make them); everything else is made
// new. Not here on purpose: kmsg, kvm, fuse, net/tun, loop*, dri, snd, input, console, vsock.
#pragma once

#include <cstdint>
#include <string_view>

namespace bawn::policy {

struct DeviceRow {
  std::string_view path;
  std::string_view reason;
};
inline constexpr DeviceRow kDeviceTable[] = {
    {"/dev/null", "discards"},        {"/dev/zero", "zeros"},
    {"/dev/full", "refuses writes"},  {"/dev/random", "random bytes"},
    {"/dev/urandom", "random bytes"}, {"/dev/tty", "the controlling terminal: the inner pty"},
};

struct LinkRow {
  std::string_view path;
  std::string_view target;
};
inline constexpr LinkRow kDeviceLinks[] = {
    {"/dev/ptmx", "pts/ptmx"},          {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},  {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
};

// One private scratch file system: /var/tmp is a link to it, which saves a mount on every run.
inline constexpr LinkRow kScratchLinks[] = {
    {"/var/tmp", "../tmp"},
};

// CPU topology: nproc, allocators and the JVM read it. Nothing else of /sys.
inline constexpr std::string_view kCpuTopology = "/sys/devices/system/cpu";

// Sizes of the private places as a share of the machine's memory: they are lids, not reservations.
// Tmpfs pages count as memory of the job at `bounded`.
inline constexpr uint64_t kScratchShare = 2;       // /tmp and the private home: a half each
inline constexpr uint64_t kSharedMemoryShare = 4;  // /dev/shm: a quarter
inline constexpr uint64_t kScratchBytesMin = uint64_t{1} << 30;
inline constexpr uint64_t kSharedMemoryBytesMin = uint64_t{256} << 20;  // Chromium needs as much
inline constexpr uint64_t kScratchInodes = 2'000'000;
inline constexpr uint64_t kSharedMemoryInodes = 100'000;

}  // namespace bawn::policy
