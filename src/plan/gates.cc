#include "plan/gates.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "plan/gates_text.h"
#include "plan/path_alias.h"

namespace bawn::plan {
namespace {

struct Row {
  GateVerdict verdict;
  size_t order = 0;
};

struct Glob {
  std::vector<std::string> components;
  bool directory = false;  // ends in "/**"
  Row row;
};

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    if (end != 0 && !text.empty()) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// `*` is any run of bytes; patterns and names are lower case here.
bool MatchesGlob(std::string_view pattern, std::string_view name) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t at = star; at <= name.size(); ++at) {
    if (MatchesGlob(rest, name.substr(at))) return true;
  }
  return false;
}

// The parsed table. Names without a wildcard, which are most, are found by hash.
class Table {
 public:
  explicit Table(std::string_view text) {
    for (const std::string_view line : Split(text, '\n')) {
      if (Trim(line).empty() || line.starts_with('#')) continue;
      const auto fields = Split(line, '|');
      BAWN_ASSERT(fields.size() == 4);
      const std::string_view kind = Trim(fields[0]);
      BAWN_ASSERT(kind == "self" || kind == "build");
      const Row row{
          .verdict = {.kind = kind == "self" ? GateKind::kRunsByItself : GateKind::kRunsOnBuild,
                      .rule_id = Trim(fields[1]),
                      .reason = Trim(fields[3])},
          .order = rows_++};
      for (const std::string_view pattern : Split(Trim(fields[2]), ' ')) Add(pattern, row);
    }
  }

  GateVerdict Judge(const std::vector<std::string>& components) const {
    const Row* best = nullptr;
    const auto take = [&](const Row& row) {
      if (best == nullptr || row.order < best->order) best = &row;
    };
    if (const auto name = names_.find(components.back()); name != names_.end()) take(name->second);
    for (const std::string& component : components) {
      if (const auto found = directories_.find(component); found != directories_.end()) {
        take(found->second);
      }
    }
    const auto try_all = [&](const std::vector<Glob>& globs) {
      for (const Glob& glob : globs) {
        if ((best == nullptr || glob.row.order < best->order) && Matches(glob, components)) {
          take(glob.row);
        }
      }
    };
    for (const std::string& component : components) {
      const auto found = by_first_component_.find(component);
      if (found != by_first_component_.end()) try_all(found->second);
    }
    if (const std::string& name = components.back(); !name.empty()) {
      try_all(by_first_byte_[Byte(name.front())]);
      try_all(by_last_byte_[Byte(name.back())]);
    }
    try_all(others_);
    return best == nullptr ? GateVerdict{} : best->verdict;
  }

 private:
  void Add(std::string_view pattern, const Row& row) {
    Glob glob{.components = {}, .directory = pattern.ends_with("/**"), .row = row};
    if (glob.directory) pattern.remove_suffix(3);
    for (const std::string_view component : Split(pattern, '/')) {
      glob.components.push_back(FoldName(component));
    }
    const bool plain = glob.components.size() == 1 && pattern.find('*') == std::string_view::npos;
    if (plain) {
      (glob.directory ? directories_ : names_).emplace(glob.components.front(), row);
    } else {
      File(std::move(glob));
    }
  }

  // Under what a path must have for the pattern to match, so that few are tried for each path.
  void File(Glob glob) {
    const std::string& first = glob.components.front();
    const bool one_name = !glob.directory && glob.components.size() == 1;
    std::vector<Glob>* place = &others_;
    if (first.find('*') == std::string::npos) {
      place = &by_first_component_[first];
    } else if (one_name && first.front() != '*') {
      place = &by_first_byte_[Byte(first.front())];
    } else if (one_name && first.back() != '*') {
      place = &by_last_byte_[Byte(first.back())];
    }
    place->push_back(std::move(glob));
  }

  static size_t Byte(char c) { return static_cast<unsigned char>(c); }

  static bool MatchesAt(const Glob& glob, const std::vector<std::string>& path, size_t at,
                        size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!MatchesGlob(glob.components[i], path[at + i])) return false;
    }
    return true;
  }

  static bool Matches(const Glob& glob, const std::vector<std::string>& path) {
    const size_t wanted = glob.components.size();
    for (size_t at = 0; at < path.size(); ++at) {
      const size_t left = path.size() - at;
      const bool reaches = glob.directory ? left >= wanted : left == wanted;
      if (reaches && MatchesAt(glob, path, at, wanted)) return true;
      // ".github" made a symlink stands for all that it leads to.
      const bool link = glob.directory && left < wanted && glob.components.front().starts_with('.');
      if (link && MatchesAt(glob, path, at, left)) return true;
    }
    return false;
  }

  std::unordered_map<std::string, Row> names_;
  std::unordered_map<std::string, Row> directories_;
  std::unordered_map<std::string, std::vector<Glob>> by_first_component_;
  std::array<std::vector<Glob>, 256> by_first_byte_, by_last_byte_;  // of the only component
  std::vector<Glob> others_;
  size_t rows_ = 0;
};

}  // namespace

namespace {

bool IsFoldedDotGit(std::string_view name) {
  if (name == ".git") return true;
  return name.starts_with("git~") && name.size() > 4 &&
         std::ranges::all_of(name.substr(4), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool IsDotGitAlias(std::string_view component) {
  return std::ranges::any_of(Split(component, '\\'), [](std::string_view piece) {
    return IsFoldedDotGit(FoldName(piece));  // '\\' is a separator on NTFS
  });
}

GateVerdict JudgePath(std::string_view path) {
  static const Table kTable(GatesText());  // constant data, parsed at first use
  std::vector<std::string> components;
  for (const std::string_view component : Split(path, '/')) {
    components.push_back(FoldName(component));
    const bool one_piece = component.find('\\') == std::string_view::npos;
    if (one_piece ? IsFoldedDotGit(components.back()) : IsDotGitAlias(component)) {
      return {.kind = GateKind::kNever,
              .rule_id = "gate.dot-git",
              .reason = "some file system or program takes this name for .git"};
    }
  }
  return components.empty() ? GateVerdict{} : kTable.Judge(components);
}

GateVerdict JudgeSymlink(std::string_view path, std::string_view target) {
  const GateVerdict out{.kind = GateKind::kRunsByItself,
                        .rule_id = "gate.symlink-out",
                        .reason =
                            "what is written or read through this link is outside of the "
                            "workspace"};
  if (target.starts_with('/')) return out;
  size_t depth = Split(path, '/').size() - 1;
  for (const std::string_view component : Split(target, '/')) {
    if (IsDotGitAlias(component)) {
      return {.kind = GateKind::kRunsByItself,
              .rule_id = "gate.symlink-git",
              .reason = "the link leads into a git directory"};
    }
    if (component == ".") continue;
    if (component != "..") {
      ++depth;
    } else if (depth-- == 0) {
      return out;
    }
  }
  return {};
}

GateVerdict BareRepositoryVerdict() {
  return {.kind = GateKind::kNever,
          .rule_id = "gate.bare-repository",
          .reason = "git run in this directory would obey the configuration in it"};
}

}  // namespace bawn::plan
