#include "review/surroundings.h"

#include <algorithm>

#include "review/base_tree.h"
#include "sys/files.h"

namespace bawn::review {
namespace {

std::string Below(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string(name) : std::string(directory) + "/" + std::string(name);
}

}  // namespace

bool Surroundings::Exists(const std::string& path) const {
  const auto& changes = set_.changes;
  auto at = std::ranges::lower_bound(changes, path, {}, &workspace::Change::path);
  if (at != changes.end() && at->path == path) {
    return at->new_type != workspace::EntryType::kNone;
  }
  // A new directory that is not empty shows by what is in it. Everything below "path/" follows
  // "path/" itself in byte order.
  at = std::ranges::lower_bound(changes, path + "/", {}, &workspace::Change::path);
  for (; at != changes.end() && at->path.starts_with(path + "/"); ++at) {
    if (at->new_type != workspace::EntryType::kNone) return true;
  }
  return sys::ExistsAt(set_.lower.get(), path, sys::kUntrusted);
}

const Surroundings::Facts& Surroundings::Of(std::string_view directory) {
  if (const auto known = facts_.find(directory); known != facts_.end()) return known->second;
  Facts facts;
  if (!directory.empty()) facts = Of(ParentOf(directory));
  const bool nested = !directory.empty() && Exists(Below(directory, ".git"));
  const bool bare = Exists(Below(directory, "HEAD")) &&
                    (Exists(Below(directory, "commondir")) ||
                     (Exists(Below(directory, "objects")) && Exists(Below(directory, "refs"))));
  const auto at = facts_.try_emplace(std::string(directory), facts).first;
  if (nested) at->second.nested = &at->first;
  if (bare) at->second.bare = &at->first;
  return at->second;
}

std::string Surroundings::NestedRepository(std::string_view path) {
  const std::string* found = Of(ParentOf(path)).nested;
  return found == nullptr ? "" : *found;
}

std::string Surroundings::BareRepository(std::string_view path) {
  const std::string* found = Of(path).bare;
  if (found == nullptr) return "";
  return found->empty() ? "." : *found;
}

}  // namespace bawn::review
