#include "launch/id_survivors.h"

#include <fcntl.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "sys/files.h"

namespace bawn::launch {
namespace {

constexpr size_t kProcFileBytesMax = 64 << 20;

bool Contains(const contain::IdSpan& span, uint64_t id) {
  return id >= span.first && id - span.first < span.count;
}

// The numbers of a line, blanks and a colon between them; words are passed over.
std::vector<uint64_t> Numbers(std::string_view line) {
  std::vector<uint64_t> numbers;
  for (size_t at = 0; at < line.size();) {
    size_t end = line.find_first_of(" \t:", at);
    if (end == std::string_view::npos) end = line.size();
    uint64_t value = 0;
    auto [stop, error] = std::from_chars(line.data() + at, line.data() + end, value);
    if (end > at && error == std::errc() && stop == line.data() + end) numbers.push_back(value);
    at = end + 1;
  }
  return numbers;
}

template <class F>
void ForEachLine(std::string_view text, F f) {
  while (!text.empty()) {
    size_t end = text.find('\n');
    f(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

class Collector {
 public:
  explicit Collector(const contain::SubIds& span) : span_(span) {}
  void User(uint64_t id, const std::string& by) { Add(IdKind::kUser, span_.uids, id, by); }
  void Group(uint64_t id, const std::string& by) { Add(IdKind::kGroup, span_.gids, id, by); }
  std::vector<UsedId> used;

 private:
  void Add(IdKind kind, const contain::IdSpan& span, uint64_t id, const std::string& by) {
    if (Contains(span, id)) used.push_back({kind, static_cast<uint32_t>(id), by});
  }
  contain::SubIds span_;
};

bool IsPid(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

// The owner of /proc/<pid> is the effective id, also where the process is not dumpable (proc(5);
// the kernel's task_dump_owner), at a tenth of the cost of its status file. A process of a range
// has no id outside of it: its user namespace maps no other.
Result<> Processes(Collector& found) {
  UniqueFd proc = BAWN_TRY(sys::OpenDir(AT_FDCWD, "/proc"));
  for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(proc.get()))) {
    if (!IsPid(entry.name)) continue;
    Result<sys::FileStat> stat = sys::Fstatat(proc.get(), entry.name);
    if (!stat && (stat.error().sys_errno == ENOENT || stat.error().sys_errno == ESRCH)) continue;
    if (!stat) return std::unexpected(stat.error());
    found.User(stat->uid, "process " + entry.name);
    found.Group(stat->gid, "process " + entry.name);
  }
  return {};
}

// Words of a header line; the column of "uid", "gid", "cuid", "cgid" differs from file to file.
std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = line.find_first_not_of(' '); at != std::string_view::npos;
       at = line.find_first_not_of(' ', at)) {
    size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

// A file that a kernel without the feature does not have.
Result<std::string> ReadOptional(const std::string& path) {
  Result<std::string> text = sys::ReadFileAt(AT_FDCWD, path, kProcFileBytesMax);
  if (!text && text.error().sys_errno == ENOENT) return std::string();
  return text;
}

Result<> IpcObjects(Collector& found) {
  for (const char* kind : {"shm", "msg", "sem"}) {
    std::string text = BAWN_TRY(ReadOptional(std::string("/proc/sysvipc/") + kind));
    std::vector<std::string_view> header;
    std::string by = std::string("IPC object in /proc/sysvipc/") + kind;
    ForEachLine(text, [&](std::string_view line) {
      std::vector<std::string_view> words = Words(line);
      if (header.empty()) return header.swap(words);
      for (size_t i = 0; i < words.size() && i < header.size(); ++i) {
        std::vector<uint64_t> number = Numbers(words[i]);
        if (number.empty()) continue;
        if (header[i] == "uid" || header[i] == "cuid") found.User(number[0], by);
        if (header[i] == "gid" || header[i] == "cgid") found.Group(number[0], by);
      }
    });
  }
  return {};
}

// "  1000:     5 5/5 4/200 66/20000": a user with keys or keyrings.
Result<> Keys(Collector& found) {
  std::string text = BAWN_TRY(ReadOptional("/proc/key-users"));
  ForEachLine(text, [&](std::string_view line) {
    std::vector<uint64_t> numbers = Numbers(line.substr(0, line.find(':')));
    if (!numbers.empty()) found.User(numbers[0], "key in /proc/key-users");
  });
  return {};
}

struct Walk {
  Collector* found;
  bool first_only;

  Result<> Below(int dirfd, int levels, const std::string& prefix) {
    for (const sys::DirEntry& entry : BAWN_TRY(sys::ListDir(dirfd))) {
      std::string path = prefix + entry.name;
      Result<sys::FileStat> stat = sys::Fstatat(dirfd, entry.name);
      if (!stat && stat.error().sys_errno == ENOENT) continue;
      if (!stat) return std::unexpected(stat.error());
      found->User(stat->uid, "file " + path);
      found->Group(stat->gid, "file " + path);
      if (first_only && !found->used.empty()) return {};
      if (stat->IsDir()) BAWN_CHECK_OK(Into(dirfd, entry.name, levels, path));
      if (first_only && !found->used.empty()) return {};
    }
    return {};
  }

  Result<> Into(int dirfd, const std::string& name, int levels, const std::string& path) {
    if (levels == 0 && first_only) {
      return Fail(ErrorCode::kResourceExhausted, path + " is nested too deep to look for files");
    }
    if (levels == 0) return {};
    Result<UniqueFd> dir = sys::OpenDir(dirfd, name, sys::kUntrusted | sys::kNoXdev);
    if (!dir && (dir.error().sys_errno == ENOENT || dir.error().sys_errno == EXDEV)) return {};
    if (!dir) return std::unexpected(dir.error());
    return Below(dir->get(), levels - 1, path + "/");
  }
};

}  // namespace

Result<std::vector<UsedId>> UsedByKernel(const contain::SubIds& span) {
  Collector found(span);
  BAWN_CHECK_OK(Processes(found));
  BAWN_CHECK_OK(IpcObjects(found));
  BAWN_CHECK_OK(Keys(found));
  return std::move(found.used);
}

Result<std::vector<UsedId>> UsedByFiles(const contain::SubIds& span, int dirfd, int levels,
                                        bool first_only) {
  Collector found(span);
  Walk walk = {&found, first_only};
  BAWN_CHECK_OK(walk.Below(dirfd, levels, ""));
  return std::move(found.used);
}

}  // namespace bawn::launch
