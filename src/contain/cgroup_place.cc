#include "contain/cgroup_place.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "sys/files.h"

namespace bawn::contain {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool Contains(const std::vector<std::string_view>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// The caller's group in the v1 hierarchy of `controller`, or in v2 for ""; empty: there is none.
std::string_view OwnGroup(std::string_view cgroups, std::string_view controller) {
  for (std::string_view line : Split(cgroups, '\n')) {
    std::vector<std::string_view> fields = Split(line, ':');  // id:controllers:path
    if (fields.size() < 3) continue;
    bool found =
        controller.empty() ? line.starts_with("0::") : Contains(Split(fields[1], ','), controller);
    if (found) return line.substr(fields[0].size() + fields[1].size() + 2);
  }
  return {};
}

// Where that hierarchy is mounted with the group in sight; empty: it is not.
std::string Directory(std::string_view mountinfo, std::string_view controller,
                      std::string_view group) {
  if (group.empty()) return {};
  for (std::string_view line : Split(mountinfo, '\n')) {
    size_t dash = line.find(" - cgroup");
    if (dash == std::string_view::npos) continue;
    std::vector<std::string_view> fields = Split(line.substr(0, dash), ' ');
    std::vector<std::string_view> more = Split(line.substr(dash + 3), ' ');
    if (fields.size() < 5 || more.size() < 3) continue;
    bool is_it = controller.empty()
                     ? more[0] == "cgroup2"
                     : more[0] == "cgroup" && Contains(Split(more[2], ','), controller);
    std::string_view root = fields[3] == "/" ? "" : fields[3];
    if (!is_it || !group.starts_with(root)) continue;
    std::string_view below = group.substr(root.size());
    if (below == "/") below = {};
    return std::string(fields[4]) + std::string(below);
  }
  return {};
}

}  // namespace

Result<std::vector<CgroupPlace>> PlacesFrom(std::string_view cgroups, std::string_view mountinfo,
                                            bool cpu) {
  CgroupPlace unified = {.directory = Directory(mountinfo, "", OwnGroup(cgroups, "")), .v2 = true};
  std::vector<CgroupPlace> places;
  for (auto [name, flag] : {std::pair{"memory", &CgroupPlace::memory},
                            {"pids", &CgroupPlace::pids},
                            {"cpu", &CgroupPlace::cpu}}) {
    if (flag == &CgroupPlace::cpu && !cpu) continue;
    std::string_view group = OwnGroup(cgroups, name);
    if (group.empty() && !unified.directory.empty()) {
      unified.*flag = true;
      continue;
    }
    std::string directory = Directory(mountinfo, name, group);
    if (directory.empty()) {
      return Fail(ErrorCode::kUnavailable, std::string("no mounted cgroup hierarchy with ") + name);
    }
    places.push_back({.directory = std::move(directory)});
    places.back().*flag = true;
  }
  if (!unified.directory.empty()) places.push_back(std::move(unified));
  return places;
}

Result<std::vector<CgroupPlace>> FindCgroupPlaces(bool cpu) {
  std::string cgroups = BAWN_TRY(sys::ReadFileAt(AT_FDCWD, "/proc/self/cgroup", 1 << 20));
  std::string mounts = BAWN_TRY(sys::ReadFileAt(AT_FDCWD, "/proc/self/mountinfo", 16 << 20));
  return PlacesFrom(cgroups, mounts, cpu);
}

}  // namespace bawn::contain
