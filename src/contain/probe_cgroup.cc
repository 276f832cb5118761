// Whole-tree limits: tried in child groups of the caller's own group, in cgroup v1 hierarchies
// where a controller has one, else in v2. Sources: cgroups(7),
// Documentation/admin-guide/cgroup-v2.rst.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "contain/probes.h"
#include "sys/files.h"

namespace bawn::contain {
namespace {

struct Controller {
  const char* name;
  const char* v1_file;
  const char* v1_value;
  const char* v2_file;
  const char* v2_value;
};
constexpr Controller kControllers[] = {
    {"memory", "memory.limit_in_bytes", "1073741824", "memory.max", "1073741824"},
    {"pids", "pids.max", "1000", "pids.max", "1000"},
    {"cpu", "cpu.cfs_quota_us", "100000", "cpu.max", "100000 100000"},
};

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool Contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The caller's group in the hierarchy of `controller` (v1) or in v2 ("" there).
std::string OwnGroup(const std::vector<std::string>& lines, std::string_view controller) {
  for (const std::string& line : lines) {
    std::vector<std::string> fields = Split(line, ':');  // id:controllers:path
    if (fields.size() < 3) continue;
    bool found =
        controller.empty() ? line.starts_with("0::") : Contains(Split(fields[1], ','), controller);
    if (found) return line.substr(fields[0].size() + fields[1].size() + 2);
  }
  return "";
}

// Where that hierarchy is mounted with the group in sight; empty when it is not.
std::string Directory(const std::vector<std::string>& mounts, std::string_view controller,
                      const std::string& group) {
  for (const std::string& line : mounts) {
    std::vector<std::string> fields = Split(line, ' ');
    auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || fields.end() - dash < 4) continue;
    bool is_it = controller.empty()
                     ? dash[1] == "cgroup2"
                     : dash[1] == "cgroup" && Contains(Split(dash[3], ','), controller);
    std::string root = fields[3] == "/" ? "" : fields[3];
    if (is_it && group.starts_with(root)) return fields[4] + group.substr(root.size());
  }
  return "";
}

Result<> WriteFile(const std::string& path, std::string_view value) {
  UniqueFd file = BAWN_TRY(sys::Openat2(AT_FDCWD, path, O_WRONLY));
  return sys::WriteAll(file.get(), value);
}

// In v2 a controller reaches children only when it is enabled for them, which the kernel refuses
// while processes are in the group itself (EBUSY).
Result<> TryLimit(const std::string& directory, const Controller& controller, bool v2) {
  std::string group = directory + "/bawn-probe-" + std::to_string(getpid());
  std::string control = directory + "/cgroup.subtree_control";
  bool enabled = !v2;
  if (v2) {
    std::string now = BAWN_TRY(sys::ReadFileAt(AT_FDCWD, control, 4096));
    if (!now.empty() && now.back() == '\n') now.pop_back();
    enabled = Contains(Split(now, ' '), controller.name);
    if (!enabled) BAWN_CHECK_OK(WriteFile(control, std::string("+") + controller.name));
  }
  Result<> made = sys::Mkdirat(AT_FDCWD, group, 0755);
  Result<> limited = made ? WriteFile(group + "/" + (v2 ? controller.v2_file : controller.v1_file),
                                      v2 ? controller.v2_value : controller.v1_value)
                          : made;
  Result<> removed = made ? sys::Unlinkat(AT_FDCWD, group, AT_REMOVEDIR) : made;
  if (!enabled) BAWN_CHECK_OK(WriteFile(control, std::string("-") + controller.name));
  if (!limited) return limited;
  return removed;
}

}  // namespace

Result<std::string> ProbeCgroup() {
  std::vector<std::string> groups =
      Split(BAWN_TRY(sys::ReadFileAt(AT_FDCWD, "/proc/self/cgroup", 1 << 20)), '\n');
  std::vector<std::string> mounts =
      Split(BAWN_TRY(sys::ReadFileAt(AT_FDCWD, "/proc/self/mountinfo", 16 << 20)), '\n');
  std::string seen;
  for (const Controller& controller : kControllers) {
    std::string group = OwnGroup(groups, controller.name);
    bool v2 = group.empty();
    if (v2) group = OwnGroup(groups, "");
    std::string directory = Directory(mounts, v2 ? "" : controller.name, group);
    if (directory.empty()) {
      return Fail(ErrorCode::kUnavailable,
                  std::string("no mounted cgroup hierarchy with ") + controller.name);
    }
    Result<> limited = TryLimit(directory, controller, v2);
    if (!limited) return std::unexpected(WithContext(limited.error(), controller.name));
    seen += std::string(seen.empty() ? "" : ", ") + controller.name + (v2 ? " (v2)" : " (v1)");
  }
  return seen;
}

}  // namespace bawn::contain
