#include "publish/inside_trees.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "plan/gates.h"

namespace bawn::publish {
namespace {

constexpr size_t kPathBytesMax = 4096;  // PATH_MAX
constexpr size_t kDepthMax = 512;

std::unexpected<Error> Refuse(const std::string& path, std::string_view why,
                              std::string_view rule) {
  return Fail(
      ErrorCode::kFailedPrecondition,
      "the commits made inside cannot come along: " + EscapeName(path) + " " + std::string(why),
      kSquashHint, std::string(rule));
}

bool Same(const git::TreeEntry* a, const git::TreeEntry* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->mode == b->mode && a->oid == b->oid;
}

bool IsTree(const git::TreeEntry* entry) {
  return entry != nullptr && entry->mode == git::FileMode::kTree;
}

}  // namespace

Result<> InsideTrees::Compare(const git::Oid& tree, const std::vector<git::Oid>& parents) {
  if (std::ranges::find(parents, tree) != parents.end()) return {};
  return Directory({}, tree, parents);
}

std::vector<Touched> InsideTrees::TakeTouched() {
  auto key = [](const Touched& one) { return std::tie(one.path, one.mode, one.oid, one.before); };
  std::ranges::sort(touched_, {}, key);
  auto same = std::ranges::unique(touched_, {}, key);
  touched_.erase(same.begin(), same.end());
  return std::move(touched_);
}

Result<const InsideTrees::Entries*> InsideTrees::Load(const Place& place, const git::Oid& tree) {
  static const Entries kNone;
  if (tree.empty()) return &kNone;
  auto [at, fresh] = loaded_.try_emplace(tree);
  if (!fresh) return &at->second;
  if (stream_.Find(tree) != nullptr) {
    std::string bytes = BAWN_TRY(stream_.Read(tree, git::ObjectKind::kTree));
    at->second = BAWN_TRY(git::ParseTree(bytes));
  } else if (BAWN_TRY(repo_.KindOf(tree)) != git::ObjectKind::kTree) {
    return Refuse(place.path.empty() ? "." : place.path,
                  "names an object that neither came along nor is in the repository",
                  "publish.inside_open");
  } else {
    at->second = BAWN_TRY(repo_.ReadTree(tree));
  }
  return &at->second;
}

void InsideTrees::Need(const git::Oid& oid) {
  if (stream_.Find(oid) != nullptr && needed_.insert(oid).second) objects_.push_back(oid);
}

Result<> InsideTrees::Directory(const Place& place, const git::Oid& tree,
                                const std::vector<git::Oid>& parents) {
  if (place.depth > kDepthMax) {
    return Refuse(place.path.substr(0, 100), "is too deep", "publish.inside_limit");
  }
  if (++directories_ > kInsidePathsMax) {
    return Refuse(place.path, "is one directory too many for what a publish carries",
                  "publish.inside_limit");
  }
  // Name -> what is there now, then what each parent has.
  std::map<std::string_view, std::vector<const git::TreeEntry*>> rows;
  auto add = [&](const Entries& entries, size_t column) {
    for (const git::TreeEntry& entry : entries) {
      auto& row = rows[entry.name];
      row.resize(parents.size() + 1);
      row[column] = &entry;
    }
  };
  const Entries* now = BAWN_TRY(Load(place, tree));
  add(*now, 0);
  for (size_t i = 0; i < parents.size(); ++i) add(*BAWN_TRY(Load(place, parents[i])), i + 1);
  if (!tree.empty()) {
    Need(tree);
    if (now->empty() && place.depth > 0) {
      return Refuse(place.path, "is an empty directory", "publish.inside_object");
    }
    // What git would take for a repository of its own, and obey the config of (RT-24).
    auto has = [&](const char* name) { return rows.contains(name) && rows[name][0] != nullptr; };
    if (has("HEAD") && (has("commondir") || (has("objects") && has("refs")))) {
      plan::GateVerdict verdict = plan::BareRepositoryVerdict();
      return Refuse(place.path.empty() ? "." : place.path, verdict.reason, verdict.rule_id);
    }
  }
  for (const auto& [name, row] : rows) {
    BAWN_CHECK_OK(Name(place, std::string(name), row[0], {row.begin() + 1, row.end()}));
  }
  return {};
}

Result<> InsideTrees::Name(const Place& place, const std::string& name, const git::TreeEntry* now,
                           const std::vector<const git::TreeEntry*>& parents) {
  for (const git::TreeEntry* parent : parents) {
    if (Same(now, parent)) return {};
  }
  std::string path = place.path.empty() ? name : place.path + "/" + name;
  if (path.size() > kPathBytesMax) {
    return Refuse(path.substr(0, 100), "is longer than a path may be", "publish.inside_limit");
  }
  const git::TreeEntry* first = parents.empty() ? nullptr : parents.front();
  bool was_file = first != nullptr && !IsTree(first);
  if (now != nullptr && !IsTree(now)) {
    BAWN_CHECK_OK(Note(path, now, was_file ? first : nullptr));
  } else if (was_file) {
    BAWN_CHECK_OK(Note(path, nullptr, first));
  }
  std::vector<git::Oid> below;
  below.reserve(parents.size());
  for (const git::TreeEntry* parent : parents) below.push_back(IsTree(parent) ? parent->oid : "");
  bool any_tree =
      IsTree(now) || std::ranges::any_of(below, [](const git::Oid& oid) { return !oid.empty(); });
  if (!any_tree) return {};
  return Directory({std::move(path), place.depth + 1}, IsTree(now) ? now->oid : "", below);
}

Result<> InsideTrees::Note(std::string path, const git::TreeEntry* now,
                           const git::TreeEntry* before) {
  if (touched_.size() >= kInsidePathsMax) {
    return Refuse(path, "is one path too many for what a publish carries", "publish.inside_limit");
  }
  Touched touched;
  touched.path = std::move(path);
  if (before != nullptr && before->mode != git::FileMode::kGitlink) touched.before = before->oid;
  if (now != nullptr) {
    BAWN_CHECK_OK(CheckPresent(touched.path, *now));
    touched.mode = now->mode;
    touched.oid = now->oid;
  } else if (before != nullptr && before->mode == git::FileMode::kGitlink) {
    return Refuse(touched.path, "is a submodule, which a publish leaves alone",
                  "publish.submodule");
  }
  touched_.push_back(std::move(touched));
  return {};
}

Result<> InsideTrees::CheckPresent(const std::string& path, const git::TreeEntry& entry) {
  if (entry.mode == git::FileMode::kGitlink) {
    return Refuse(path, "is a submodule, which a publish leaves alone", "publish.submodule");
  }
  const git::ObjectStream::Object* object = stream_.Find(entry.oid);
  bool present = object != nullptr ? object->kind == git::ObjectKind::kBlob
                                   : BAWN_TRY(repo_.KindOf(entry.oid)) == git::ObjectKind::kBlob;
  if (!present) {
    return Refuse(path, "names an object that neither came along nor is in the repository",
                  "publish.inside_open");
  }
  Need(entry.oid);
  return {};
}

}  // namespace bawn::publish
