#include "review/renames.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

namespace bawn::review {
namespace {

using workspace::EntryType;

// Bytes of content per hash of a line (or of 64 bytes of a long one): git's diffcore-delta.c.
using Spans = std::unordered_map<uint32_t, uint32_t>;

Spans SpansOf(std::string_view text) {
  Spans spans;
  const bool binary = text.substr(0, 8000).find('\0') != std::string_view::npos;
  uint32_t low = 0, high = 0, count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // "\r\n" counts as "\n" in text.
    if (!binary && c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    const uint32_t old = low;
    low = (low << 7) ^ (high >> 25);
    high = (high << 7) ^ (old >> 25);
    low += c;
    if (++count < 64 && c != '\n') continue;
    spans[(low + high * 0x61) % 107927] += count;
    low = high = count = 0;
  }
  if (count > 0) spans[(low + high * 0x61) % 107927] += count;
  return spans;
}

uint32_t Score(const Spans& before, size_t before_size, const Spans& after, size_t after_size) {
  uint64_t copied = 0;
  for (const auto& [hash, bytes] : before) {
    if (const auto found = after.find(hash); found != after.end()) {
      copied += std::min(bytes, found->second);
    }
  }
  const uint64_t size = std::max(before_size, after_size);
  return size == 0 ? 0 : static_cast<uint32_t>(std::min<uint64_t>(copied * 100 / size, 99));
}

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool CouldBeSource(const Reviewed& path) {
  return path.old_git_mode != 0 && path.new_git_mode == 0 && !path.old_oid.empty() &&
         path.new_path.empty() && !path.ignored && path.refused.empty() && !path.dirty_base;
}
bool CouldBeTarget(const Reviewed& path) {
  return path.old_git_mode == 0 && path.new_git_mode != 0 && !path.new_oid.empty() &&
         path.old_path.empty() && !path.ignored && path.refused.empty() && !path.dirty_base;
}
constexpr uint32_t kTypeBits = 0170000;
bool SameType(const Reviewed& from, const Reviewed& to) {
  return (from.old_git_mode & kTypeBits) == (to.new_git_mode & kTypeBits);
}

void Join(Reviewed* from, Reviewed* to, uint32_t similarity) {
  to->old_path = from->change.path;
  to->old_git_mode = from->old_git_mode;
  to->old_oid = from->old_oid;
  to->similarity = similarity;
  from->new_path = to->change.path;
}

// Empty files are all equal and say nothing (git's --no-rename-empty).
constexpr std::string_view kEmptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

void JoinEqual(std::vector<Reviewed>* paths) {
  std::multimap<git::Oid, Reviewed*> sources;
  for (Reviewed& path : *paths) {
    if (CouldBeSource(path) && path.old_oid != kEmptyBlob) sources.emplace(path.old_oid, &path);
  }
  for (Reviewed& path : *paths) {
    if (sources.empty() || !CouldBeTarget(path)) continue;
    const auto [begin, end] = sources.equal_range(path.new_oid);
    auto best = end;
    for (auto at = begin; at != end; ++at) {
      if (!SameType(*at->second, path)) continue;
      const bool same_name = BaseName(at->second->change.path) == BaseName(path.change.path);
      if (best == end || same_name) best = at;
      if (same_name) break;
    }
    if (best == end) continue;
    Join(best->second, &path, 100);
    sources.erase(best);
  }
}

struct Candidate {
  Reviewed* path = nullptr;
  size_t size = 0;
  Spans spans;
};

Result<std::vector<Candidate>> Load(const Source& source, const std::vector<Reviewed*>& paths,
                                    bool old_side) {
  std::vector<Candidate> candidates;
  for (Reviewed* path : paths) {
    const auto content = old_side ? OldContent(source, *path) : NewContent(source, *path);
    if (!content && content.error().kind == "denied") continue;
    const std::string& bytes = BAWN_TRY(content);
    candidates.push_back({.path = path, .size = bytes.size(), .spans = SpansOf(bytes)});
  }
  return candidates;
}

}  // namespace

uint32_t Similarity(std::string_view before, std::string_view after) {
  if (before == after) return 100;
  return Score(SpansOf(before), before.size(), SpansOf(after), after.size());
}

Result<> FindRenames(const Source& source, std::vector<Reviewed>* paths) {
  JoinEqual(paths);
  std::vector<Reviewed*> gone, come;
  uint64_t bytes = 0;
  for (Reviewed& path : *paths) {
    if (CouldBeSource(path) && path.change.old_type == EntryType::kFile &&
        path.change.old_size > 0) {
      gone.push_back(&path);
      bytes += path.change.old_size;
    } else if (CouldBeTarget(path) && path.change.new_type == EntryType::kFile &&
               path.change.new_size > 0) {
      come.push_back(&path);
      bytes += path.change.new_size;
    }
  }
  const bool too_many = !gone.empty() && come.size() > kRenamePairsMax / gone.size();
  if (gone.empty() || come.empty() || too_many || bytes > kRenameBytesMax) return {};
  const auto sources = BAWN_TRY(Load(source, gone, true));
  const auto targets = BAWN_TRY(Load(source, come, false));
  // Best score first, then the same base name, then path order.
  std::vector<std::tuple<uint32_t, bool, size_t, size_t>> pairs;
  for (size_t t = 0; t < targets.size(); ++t) {
    for (size_t s = 0; s < sources.size(); ++s) {
      const auto [small, large] = std::minmax(sources[s].size, targets[t].size);
      if (small * 100 < large * kSimilarityPercentMin) continue;
      if (!SameType(*sources[s].path, *targets[t].path)) continue;
      const uint32_t score =
          Score(sources[s].spans, sources[s].size, targets[t].spans, targets[t].size);
      if (score < kSimilarityPercentMin) continue;
      const bool other_name =
          BaseName(sources[s].path->change.path) != BaseName(targets[t].path->change.path);
      pairs.emplace_back(100 - score, other_name, t, s);
    }
  }
  std::ranges::sort(pairs);
  for (const auto& [distance, other_name, t, s] : pairs) {
    if (!CouldBeTarget(*targets[t].path) || !CouldBeSource(*sources[s].path)) continue;
    Join(sources[s].path, targets[t].path, 100 - distance);
  }
  return {};
}

}  // namespace bawn::review
