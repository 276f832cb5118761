#include "contain/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/clock.h"
#include "base/ids.h"
#include "sys/cgroups.h"
#include "sys/events.h"
#include "sys/files.h"
#include "sys/signals.h"
#include "sys/users.h"

namespace bawn::contain {
namespace {

constexpr size_t kFileBytesMax = 1 << 20;
constexpr uint64_t kCpuPeriodUs = 100'000;

Result<std::string> ReadFile(const UniqueFd& directory, const char* file) {
  std::string text = BAWN_TRY(sys::ReadFileAt(directory.get(), file, kFileBytesMax));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<> WriteFile(const UniqueFd& directory, const char* file, std::string_view value) {
  UniqueFd fd = BAWN_TRY(sys::Openat2(directory.get(), file, O_WRONLY));
  return sys::WriteAll(fd.get(), value);
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<uint64_t> ReadNumber(const UniqueFd& directory, const char* file) {
  Result<std::string> text = ReadFile(directory, file);
  return text ? Number(*text) : std::nullopt;
}

// The value of "KEY VALUE" among the lines of a file.
std::optional<uint64_t> ReadKey(const UniqueFd& directory, const char* file, std::string_view key) {
  Result<std::string> text = ReadFile(directory, file);
  if (!text) return std::nullopt;
  std::string all = "\n" + *text;
  std::string wanted = "\n" + std::string(key) + " ";
  size_t at = all.find(wanted);
  if (at == std::string::npos) return std::nullopt;
  return Number(std::string_view(all).substr(at + wanted.size()));
}

bool Has(const UniqueFd& directory, const char* file) {
  return sys::Fstatat(directory.get(), file).has_value();
}

// In v2 a controller reaches children only when it is enabled for them, which the kernel refuses
// (EBUSY) while processes are in the group itself. Where that is only this process, as in a scope
// of its own, it steps aside into a leaf.
Result<> Enable(const CgroupPlace& place) {
  UniqueFd own = BAWN_TRY(sys::OpenDir(AT_FDCWD, place.directory));
  std::string now = " " + BAWN_TRY(ReadFile(own, "cgroup.subtree_control")) + " ";
  for (auto [wanted, name] :
       {std::pair{place.memory, "memory"}, {place.pids, "pids"}, {place.cpu, "cpu"}}) {
    if (!wanted || now.contains(" " + std::string(name) + " ")) continue;
    std::string order = "+" + std::string(name);
    Result<> enabled = WriteFile(own, "cgroup.subtree_control", order);
    if (!enabled && enabled.error().sys_errno == EBUSY) {
      Result<> made = sys::Mkdirat(own.get(), "bawn", 0755);
      if (!made && made.error().sys_errno != EEXIST) return made;
      BAWN_CHECK_OK(WriteFile(own, "bawn/cgroup.procs", "0"));
      enabled = WriteFile(own, "cgroup.subtree_control", order);
    }
    if (!enabled) return std::unexpected(WithContext(enabled.error(), name));
  }
  return {};
}

}  // namespace

Result<Cgroup> Cgroup::Make(const std::vector<CgroupPlace>& places, const std::string& name) {
  Cgroup group;
  group.name_ = name;
  for (const CgroupPlace& place : places) {
    bool limits = place.memory || place.pids || place.cpu;
    if (place.v2 && limits) BAWN_CHECK_OK(Enable(place));
    Result<> made = sys::Mkdirat(AT_FDCWD, place.directory + "/" + name, 0755);
    if (!made && place.v2 && !limits) continue;  // hybrid: killing and CPU time have other ways
    BAWN_CHECK_OK(made);
    Member member;
    member.parent = BAWN_TRY(sys::Openat2(AT_FDCWD, place.directory, O_PATH | O_DIRECTORY));
    member.directory = BAWN_TRY(sys::OpenDir(member.parent.get(), name));
    member.v2 = place.v2;
    member.memory = place.memory, member.pids = place.pids, member.cpu = place.cpu;
    group.members_.push_back(std::move(member));
    const Member& last = group.members_.back();
    if (!place.v2) {
      group.members_.back().entrance =
          BAWN_TRY(sys::Openat2(last.directory.get(), "tasks", O_WRONLY));
    }
  }
  return group;
}

Result<Cgroup> Cgroup::Adopt(std::vector<UniqueFd> directories, const std::string& name) {
  Cgroup group;
  group.name_ = name;
  for (UniqueFd& fd : directories) {
    Member member;
    member.directory = std::move(fd);
    const UniqueFd& at = member.directory;
    member.parent = BAWN_TRY(sys::Openat2(at.get(), "..", O_PATH | O_DIRECTORY));
    member.v2 = Has(at, "cgroup.controllers");
    member.memory = Has(at, member.v2 ? "memory.max" : "memory.limit_in_bytes");
    member.pids = Has(at, "pids.max");
    member.cpu = Has(at, member.v2 ? "cpu.max" : "cpu.cfs_quota_us");
    if (!member.v2) member.entrance = BAWN_TRY(sys::Openat2(at.get(), "tasks", O_WRONLY));
    group.members_.push_back(std::move(member));
  }
  for (const Member& member : group.members_) {
    group.ReadBack(member);
    BAWN_CHECK_OK(group.Watch(member));
  }
  return group;
}

Result<Cgroup> Cgroup::Find(const std::vector<std::string>& directories, const std::string& name) {
  std::vector<UniqueFd> found;
  for (const std::string& directory : directories) {
    if (!directory.ends_with("/" + name)) continue;
    Result<UniqueFd> fd = sys::OpenDir(AT_FDCWD, directory);
    if (fd) found.push_back(std::move(*fd));
  }
  return Adopt(std::move(found), name);
}

Cgroup::~Cgroup() {
  if (!members_.empty()) (void)Remove();  // EBUSY: whoever owns the processes ends them by End()
}

Result<> Cgroup::SetAndReadBack(const Member& member, const char* file, const std::string& value) {
  BAWN_CHECK_OK(WriteFile(member.directory, file, value));
  std::string seen = BAWN_TRY(ReadFile(member.directory, file));
  if (seen != value) {
    return Fail(ErrorCode::kUnavailable,
                std::string(file) + " is " + seen + " after writing " + value);
  }
  verified_by_ += (verified_by_.empty() ? "read back: " : ", ") + std::string(file) + " " + value;
  return {};
}

void Cgroup::ReadBack(const Member& member) {
  for (const char* file :
       {"memory.limit_in_bytes", "memory.max", "pids.max", "cpu.cfs_quota_us", "cpu.max"}) {
    Result<std::string> seen = ReadFile(member.directory, file);
    if (!seen) continue;
    verified_by_ += (verified_by_.empty() ? "read back: " : ", ") + std::string(file) + " " + *seen;
  }
}

// The kernel rounds to pages: rounded up here, so that what is read back is what was written. Swap
// counts too, or the limit would be one of memory only while no swap is there.
Result<> Cgroup::LimitMemory(const Member& member, uint64_t bytes) {
  uint64_t page = 4096;
  std::string value = std::to_string((bytes + page - 1) / page * page);
  if (member.v2) {
    BAWN_CHECK_OK(SetAndReadBack(member, "memory.max", value));
    BAWN_CHECK_OK(SetAndReadBack(member, "memory.oom.group", "1"));
    if (!Has(member.directory, "memory.swap.max")) return {};
    return SetAndReadBack(member, "memory.swap.max", "0");
  }
  BAWN_CHECK_OK(SetAndReadBack(member, "memory.limit_in_bytes", value));
  if (!Has(member.directory, "memory.memsw.limit_in_bytes")) return {};
  return SetAndReadBack(member, "memory.memsw.limit_in_bytes", value);
}

Result<> Cgroup::LimitPids(const Member& member, uint64_t count) {
  return SetAndReadBack(member, "pids.max", std::to_string(count));
}

Result<> Cgroup::LimitCpu(const Member& member, uint64_t milli) {
  // The kernel takes no quota below 1 ms.
  std::string quota = std::to_string(std::max<uint64_t>(milli * kCpuPeriodUs / 1000, 1000));
  if (member.v2) {
    return SetAndReadBack(member, "cpu.max", quota + " " + std::to_string(kCpuPeriodUs));
  }
  BAWN_CHECK_OK(SetAndReadBack(member, "cpu.cfs_period_us", std::to_string(kCpuPeriodUs)));
  return SetAndReadBack(member, "cpu.cfs_quota_us", quota);
}

Result<> Cgroup::SetLimits(const plan::TreeLimits& limits, uint64_t overhead) {
  bool cpu = limits.cpus_milli == 0;
  for (const Member& member : members_) {
    if (member.memory && limits.memory_bytes != 0) {
      BAWN_CHECK_OK(LimitMemory(member, limits.memory_bytes));
    }
    if (member.pids && limits.pids != 0) BAWN_CHECK_OK(LimitPids(member, limits.pids + overhead));
    if (member.cpu && limits.cpus_milli != 0) {
      BAWN_CHECK_OK(LimitCpu(member, limits.cpus_milli));
      cpu = true;
    }
    BAWN_CHECK_OK(Watch(member));
  }
  if (cpu) return {};
  return Fail(ErrorCode::kInternal, "a CPU limit without a group of that controller");
}

void Cgroup::AddWatch(UniqueFd fd, short events) {
  char buffer[256];
  if (events == POLLPRI) (void)sys::Pread(fd.get(), buffer, sizeof buffer, 0);  // armed by it
  polls_.push_back({fd.get(), events, 0});
  watches_.push_back(std::move(fd));
}

// In v2 the counter files are always readable and have an exceptional condition when they changed
// (kernfs_notify); the v1 memory controller has an eventfd, and that of pids nothing: whoever holds
// this looks at Violated() from time to time as well.
Result<> Cgroup::Watch(const Member& member) {
  const UniqueFd& at = member.directory;
  if (member.pids && member.v2)
    AddWatch(BAWN_TRY(sys::Openat2(at.get(), "pids.events", O_RDONLY)), POLLPRI);
  if (!member.memory) return {};
  if (member.v2) {
    AddWatch(BAWN_TRY(sys::Openat2(at.get(), "memory.events", O_RDONLY)), POLLPRI);
    return {};
  }
  UniqueFd control = BAWN_TRY(sys::Openat2(at.get(), "memory.oom_control", O_RDONLY));
  UniqueFd event = BAWN_TRY(sys::EventFd());
  std::string order = std::to_string(event.get()) + " " + std::to_string(control.get());
  BAWN_CHECK_OK(WriteFile(at, "cgroup.event_control", order));
  AddWatch(std::move(event), POLLIN);
  return {};
}

int Cgroup::unified() const {
  for (const Member& member : members_) {
    if (member.v2) return member.directory.get();
  }
  return -1;
}

std::vector<int> Cgroup::entrances() const {
  std::vector<int> fds;
  for (const Member& member : members_) {
    if (member.entrance.valid()) fds.push_back(member.entrance.get());
  }
  return fds;
}

Result<> Cgroup::Enter(const std::vector<int>& entrances) {
  for (int fd : entrances) BAWN_CHECK_OK(sys::WriteAll(fd, "0"));
  return {};
}

bool Cgroup::Holds(std::string_view cgroups, bool v2) const {
  auto wanted = std::ranges::count_if(members_, [&](const Member& one) { return one.v2 == v2; });
  while (!cgroups.empty()) {
    std::string_view line = cgroups.substr(0, cgroups.find('\n'));
    cgroups.remove_prefix(std::min(line.size() + 1, cgroups.size()));
    if (line.starts_with("0::") == v2 && line.ends_with("/" + name_)) --wanted;
  }
  return wanted <= 0;
}

std::vector<int> Cgroup::directories() const {
  std::vector<int> fds;
  fds.reserve(members_.size());
  for (const Member& member : members_) fds.push_back(member.directory.get());
  return fds;
}

plan::KilledBy Cgroup::Violated() {
  for (const UniqueFd& fd : watches_) {  // read: armed again
    char buffer[256];
    (void)sys::Pread(fd.get(), buffer, sizeof buffer, 0);
    (void)sys::Read(fd.get(), buffer, 8);
  }
  for (const Member& member : members_) {
    if (!member.memory) continue;
    const char* file = member.v2 ? "memory.events" : "memory.oom_control";
    if (ReadKey(member.directory, file, "oom_kill").value_or(0) > 0) {
      return plan::KilledBy::kMemory;
    }
  }
  for (const Member& member : members_) {
    if (member.pids && ReadKey(member.directory, "pids.events", "max").value_or(0) > 0) {
      return plan::KilledBy::kPids;
    }
  }
  return plan::KilledBy::kNothing;
}

TreeUsage Cgroup::Usage() const {
  TreeUsage usage;
  for (const Member& member : members_) {
    if (member.memory) {
      usage.memory_peak_bytes =
          ReadNumber(member.directory, member.v2 ? "memory.peak" : "memory.max_usage_in_bytes");
    }
    if (member.pids) usage.pids_peak = ReadNumber(member.directory, "pids.peak");
    if (member.v2) {
      std::optional<uint64_t> us = ReadKey(member.directory, "cpu.stat", "usage_usec");
      if (us) usage.cpu_ms = *us / 1000;
    }
  }
  return usage;
}

void Cgroup::Kill() const {
  for (const Member& member : members_) {
    if (member.v2 && WriteFile(member.directory, "cgroup.kill", "1")) return;
  }
  // v1 has no such act: everybody who is listed, again and again, until the list is empty.
  for (const Member& member : members_) {
    std::string procs = ReadFile(member.directory, "cgroup.procs").value_or("");
    for (size_t at = 0; at < procs.size(); at = procs.find('\n', at)) {
      if (procs[at] == '\n') ++at;
      std::optional<uint64_t> pid = Number(std::string_view(procs).substr(at));
      if (pid && *pid > 1) (void)sys::Kill(static_cast<int>(*pid), SIGKILL);
    }
  }
}

bool Cgroup::Empty() const {
  for (const Member& member : members_) {
    if (!ReadFile(member.directory, "cgroup.procs").value_or("").empty()) return false;
  }
  return true;
}

Result<> Cgroup::Remove() const {
  Result<> result;
  for (const Member& member : members_) {
    Result<> removed = sys::Unlinkat(member.parent.get(), name_, AT_REMOVEDIR);
    if (!removed && removed.error().sys_errno != ENOENT) result = removed;
  }
  return result;
}

Result<> Cgroup::End(int deadline_ms) {
  int64_t deadline = MonotonicNs() + int64_t{deadline_ms} * 1'000'000;
  while (true) {
    if (!Empty()) Kill();
    Result<> removed = Remove();
    if (removed) {
      members_.clear();
      return {};
    }
    if (MonotonicNs() > deadline) {
      return Fail(ErrorCode::kDeadlineExceeded,
                  "control group " + name_ + " stays: " + removed.error().message);
    }
    sys::SleepMs(1);
  }
}

namespace {

constexpr std::string_view kProbePrefix = "bawn-probe-";

// Groups of a probe that was killed: their maker's number is in the name, and there is none any
// more. One that is not empty stays, whoever made it.
void RemoveDeadProbes(const CgroupPlace& place) {
  Result<UniqueFd> parent = sys::OpenDir(AT_FDCWD, place.directory);
  if (!parent) return;
  Result<std::vector<sys::DirEntry>> entries = sys::ListDir(parent->get());
  if (!entries) return;
  for (const sys::DirEntry& entry : *entries) {
    if (!entry.name.starts_with(kProbePrefix)) continue;
    int maker = 0;
    const char* digits = entry.name.data() + kProbePrefix.size();
    std::from_chars(digits, entry.name.data() + entry.name.size(), maker);
    if (maker <= 0 || sys::Kill(maker, 0) != ESRCH) continue;
    (void)sys::Unlinkat(parent->get(), entry.name, AT_REMOVEDIR);
  }
}

}  // namespace

Result<std::string> ProbeCgroup() {
  std::vector<CgroupPlace> places = BAWN_TRY(FindCgroupPlaces(true));
  for (const CgroupPlace& place : places) RemoveDeadProbes(place);
  std::string prefix = std::string(kProbePrefix) + std::to_string(sys::CurrentPid()) + "-";
  Cgroup group = BAWN_TRY(Cgroup::Make(places, NewId(prefix)));
  BAWN_CHECK_OK(group.SetLimits({uint64_t{1} << 30, 1000, 1000}, 0));
  std::string seen;
  for (const CgroupPlace& place : places) {
    for (auto [has, name] :
         {std::pair{place.memory, "memory"}, {place.pids, "pids"}, {place.cpu, "cpu"}}) {
      if (!has) continue;
      seen += (seen.empty() ? "" : ", ") + std::string(name) + (place.v2 ? " (v2)" : " (v1)");
    }
  }
  BAWN_CHECK_OK(group.End(1000));
  return seen;
}

}  // namespace bawn::contain
