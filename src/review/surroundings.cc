#include "review/surroundings.h"

#include <fcntl.h>

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
  return sys::Openat2(set_.lower.get(), path, O_PATH | O_NOFOLLOW, 0, sys::kUntrusted).has_value();
}

const Surroundings::Facts& Surroundings::Of(std::string_view directory) {
  const auto [at, fresh] = facts_.try_emplace(std::string(directory));
  if (!fresh) return at->second;
  at->second.nested = !directory.empty() && Exists(Below(directory, ".git"));
  at->second.bare = Exists(Below(directory, "HEAD")) &&
                    (Exists(Below(directory, "commondir")) ||
                     (Exists(Below(directory, "objects")) && Exists(Below(directory, "refs"))));
  return at->second;
}

std::string Surroundings::NestedRepository(std::string_view path) {
  for (auto directory = ParentOf(path); !directory.empty(); directory = ParentOf(directory)) {
    if (Of(directory).nested) return std::string(directory);
  }
  return {};
}

std::string Surroundings::BareRepository(std::string_view path) {
  for (std::string_view directory = path;; directory = ParentOf(directory)) {
    if (Of(directory).bare) return directory.empty() ? "." : std::string(directory);
    if (directory.empty()) return {};
  }
}

}  // namespace bawn::review
