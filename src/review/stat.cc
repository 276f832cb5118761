// review/stat.cc
// The table of `diff --stat`.
#include <algorithm>

#include "base/text.h"
#include "review/notes.h"
#include "review/quote.h"
#include "review/review.h"
#include "sys/files.h"

namespace bawn::review {
namespace {

constexpr uint64_t kGraphWidth = 40;

struct Row {
  std::string name, count;
  uint64_t added = 0, removed = 0;
};

Row RowOf(const Reviewed& path) {
  Row row;
  row.name = QuoteName("", path.change.path);
  if (!path.old_path.empty()) row.name = QuoteName("", path.old_path) + " => " + row.name;
  row.added = path.lines_added;
  row.removed = path.lines_removed;
  row.count = std::to_string(row.added + row.removed);
  if (path.binary) {
    row.count = "Bin " + std::to_string(path.old_git_mode == 0 ? 0 : path.change.old_size) +
                " -> " + std::to_string(path.new_git_mode == 0 ? 0 : path.change.new_size) +
                " bytes";
  }
  return row;
}

// As many marks as lines, or their share of the width when the longest row has more.
std::string Graph(const Row& row, uint64_t longest, const RenderOptions& options) {
  const auto scaled = [&](uint64_t lines) {
    if (longest <= kGraphWidth || lines == 0) return lines;
    return std::max<uint64_t>(1, lines * kGraphWidth / longest);
  };
  const std::string plus(scaled(row.added), '+'), minus(scaled(row.removed), '-');
  if (!options.colour) return plus + minus;
  return "\033[32m" + plus + "\033[31m" + minus + "\033[m";
}

std::string Plural(uint64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::string Summary(const std::vector<Row>& rows) {
  uint64_t added = 0, removed = 0;
  for (const Row& row : rows) {
    added += row.added;
    removed += row.removed;
  }
  std::string line = " " + Plural(rows.size(), "file") + " changed";
  if (added > 0) line += ", " + Plural(added, "insertion") + "(+)";
  if (removed > 0) line += ", " + Plural(removed, "deletion") + "(-)";
  return line + "\n";
}

}  // namespace

Result<> RenderStat(const Review& review, const RenderOptions& options, int fd) {
  std::vector<Row> rows;
  std::string notes;
  for (const Reviewed& path : review.paths) {
    if (!path.new_path.empty() || (path.ignored && !options.include_ignored)) continue;
    for (const std::string& note : NotesOf(path)) notes += " # " + note + "\n";
    if (path.old_git_mode != 0 || path.new_git_mode != 0) rows.push_back(RowOf(path));
  }
  size_t name_width = 0, count_width = 0;
  uint64_t longest = 0;
  for (const Row& row : rows) {
    name_width = std::max(name_width, row.name.size());
    if (!row.count.starts_with("Bin")) count_width = std::max(count_width, row.count.size());
    longest = std::max(longest, row.added + row.removed);
  }
  std::string out;
  for (const Row& row : rows) {
    out += " " + row.name + std::string(name_width - row.name.size(), ' ') + " | ";
    if (row.count.size() < count_width) out += std::string(count_width - row.count.size(), ' ');
    out += row.count;
    if (row.added + row.removed > 0) out += " " + Graph(row, longest, options);
    out += "\n";
  }
  if (!rows.empty()) out += Summary(rows);
  return sys::WriteAll(fd, out + notes);
}

}  // namespace bawn::review
