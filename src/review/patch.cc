// review/patch.cc
// Unified patch text as `git diff` writes it.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "review/content.h"
#include "review/lines.h"
#include "review/notes.h"
#include "review/quote.h"
#include "review/review.h"
#include "sys/files.h"

namespace bawn::review {
namespace {

constexpr size_t kAbbrev = 10;
constexpr size_t kFlushBytes = 1 << 18;
constexpr uint32_t kTypeBits = 0170000;

constexpr std::string_view kBold = "\033[1m", kCyan = "\033[36m", kRed = "\033[31m",
                           kGreen = "\033[32m", kYellow = "\033[33m", kReset = "\033[m";

std::string Abbrev(const git::Oid& oid) {
  return (oid.empty() ? git::Oid(git::kZeroOid) : oid).substr(0, kAbbrev);
}

std::string ModeText(uint32_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%06o", mode);
  return text.data();
}

// git puts a tab behind names with blanks, for patch(1).
std::string FileLine(std::string_view mark, std::string_view prefix, const std::string& path) {
  const std::string_view tab = path.find(' ') == std::string::npos ? "" : "\t";
  return std::string(mark) + QuoteName(prefix, path) + std::string(tab);
}

class Writer {
 public:
  Writer(const RenderOptions& options, int fd) : options_(options), fd_(fd) {}

  // One line without its break. `text` is ours and printable.
  void Line(std::string_view colour, std::string_view text) {
    const bool coloured = options_.colour && !colour.empty();
    if (coloured) out_ += colour;
    out_ += text;
    if (coloured) out_ += kReset;
    out_ += '\n';
  }

  // Lines of the files themselves.
  void Hunks(std::string_view hunks) {
    while (!hunks.empty()) {
      const size_t end = std::min(hunks.find('\n'), hunks.size());
      const std::string_view line = hunks.substr(0, end);
      hunks.remove_prefix(std::min(end + 1, hunks.size()));
      const std::string_view colour = line.starts_with('+')   ? kGreen
                                      : line.starts_with('-') ? kRed
                                      : line.starts_with('@') ? kCyan
                                                              : "";
      Line(colour, options_.terminal ? TerminalSafe(line) : std::string(line));
    }
  }

  Result<> Flush(bool always) {
    if (!always && out_.size() < kFlushBytes) return {};
    BAWN_CHECK_OK(sys::WriteAll(fd_, out_));
    out_.clear();
    return {};
  }

 private:
  const RenderOptions& options_;
  int fd_;
  std::string out_;
};

void WriteHeader(Writer* out, const Reviewed& path, bool content_differs) {
  const std::string& old_name = path.old_path.empty() ? path.change.path : path.old_path;
  const std::string& new_name = path.change.path;
  out->Line(kBold, "diff --git " + QuoteName("a/", old_name) + " " + QuoteName("b/", new_name));
  const bool added = path.old_git_mode == 0, deleted = path.new_git_mode == 0;
  if (added) out->Line(kBold, "new file mode " + ModeText(path.new_git_mode));
  if (deleted) out->Line(kBold, "deleted file mode " + ModeText(path.old_git_mode));
  const bool mode_differs = !added && !deleted && path.old_git_mode != path.new_git_mode;
  if (mode_differs) {
    out->Line(kBold, "old mode " + ModeText(path.old_git_mode));
    out->Line(kBold, "new mode " + ModeText(path.new_git_mode));
  }
  if (!path.old_path.empty()) {
    out->Line(kBold, "similarity index " + std::to_string(path.similarity) + "%");
    out->Line(kBold, "rename from " + QuoteName("", old_name));
    out->Line(kBold, "rename to " + QuoteName("", new_name));
  }
  if (!content_differs && !added && !deleted) return;
  std::string index = "index " + Abbrev(path.old_oid) + ".." + Abbrev(path.new_oid);
  if (!added && !deleted && !mode_differs) index += " " + ModeText(path.new_git_mode);
  out->Line(kBold, index);
}

void WriteBody(Writer* out, const Reviewed& path, const LineDiff& lines) {
  const std::string& old_name = path.old_path.empty() ? path.change.path : path.old_path;
  const bool added = path.old_git_mode == 0, deleted = path.new_git_mode == 0;
  const std::string before = added ? "/dev/null" : QuoteName("a/", old_name);
  const std::string after = deleted ? "/dev/null" : QuoteName("b/", path.change.path);
  if (lines.unreadable) out->Line(kYellow, "# the old content cannot be read");
  if (lines.diff.too_big) {
    out->Line(kYellow, "# over " + FormatBytes(git::kDiffBytesMax) + " or " +
                           std::to_string(git::kDiffLinesMax) + " lines: not shown line by line");
  }
  if (lines.binary || lines.unreadable || lines.diff.too_big) {
    out->Line("", "Binary files " + before + " and " + after + " differ");
    return;
  }
  if (lines.diff.hunks.empty()) return;
  out->Line(kBold, added ? "--- /dev/null" : FileLine("--- ", "a/", old_name));
  out->Line(kBold, deleted ? "+++ /dev/null" : FileLine("+++ ", "b/", path.change.path));
  out->Hunks(lines.diff.hunks);
}

class PatchRenderer {
 public:
  PatchRenderer(const Source& source, const std::vector<Reviewed>& paths, Writer* out)
      : source_(source), paths_(paths), out_(out) {}

  Result<> Path(const Reviewed& path) {
    for (const std::string& note : NotesOf(path)) out_->Line(kYellow, "# " + note);
    if (!path.change.problem.empty() || (path.old_git_mode == 0 && path.new_git_mode == 0)) {
      return {};
    }
    const bool both = path.old_git_mode != 0 && path.new_git_mode != 0;
    if (both && (path.old_git_mode & kTypeBits) != (path.new_git_mode & kTypeBits)) {
      return TypeChange(path);  // a link in place of a file: git writes two patches
    }
    return One(path, SourceOf(path, paths_));
  }

 private:
  Result<> One(const Reviewed& path, const Reviewed& from) {
    const LineDiff lines = BAWN_TRY(DiffLines(source_, path, from, /*context_lines=*/3));
    const bool differs = lines.binary || lines.unreadable || lines.diff.too_big ||
                         !lines.diff.hunks.empty() ||
                         (!path.new_oid.empty() && path.old_oid != path.new_oid);
    WriteHeader(out_, path, differs);
    WriteBody(out_, path, lines);
    return {};
  }

  Result<> TypeChange(const Reviewed& path) {
    Reviewed gone = path, come = path;
    gone.new_git_mode = 0;
    gone.new_oid.clear();
    come.old_git_mode = 0;
    come.old_oid.clear();
    BAWN_CHECK_OK(One(gone, gone));
    return One(come, come);
  }

  const Source& source_;
  const std::vector<Reviewed>& paths_;
  Writer* out_;
};

}  // namespace

Result<> RenderPatch(const Review& review, const workspace::ChangeSet& set, git::Repo* repo,
                     const workspace::SandboxMeta& meta, const RenderOptions& options, int fd) {
  const Source source{.set = set, .meta = meta, .repo = repo};
  Writer out(options, fd);
  if (review.base_changed_since_open) {
    out.Line(kYellow,
             "# your tree has changed since the sandbox opened; the old side is what it holds now");
  }
  PatchRenderer renderer(source, review.paths, &out);
  for (const Reviewed& path : review.paths) {
    if (!path.new_path.empty()) continue;  // shown with its new name
    if (path.ignored && !options.include_ignored) continue;
    BAWN_CHECK_OK(renderer.Path(path));
    BAWN_CHECK_OK(out.Flush(/*always=*/false));
  }
  for (const std::string& path : review.equal) {
    out.Line(kYellow, "# " + QuoteName("", path) + ": differs on disk, not for git");
  }
  return out.Flush(/*always=*/true);
}

}  // namespace bawn::review
