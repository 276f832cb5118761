#include "git/diff.h"

#include <algorithm>

#include "git/impl.h"

namespace bawn::git {

bool IsBinary(std::string_view bytes) {
  return bytes.substr(0, 8000).find('\0') != std::string_view::npos;
}

Result<BufferDiff> DiffBuffers(std::string_view before, std::string_view after,
                               uint32_t context_lines) {
  BufferDiff diff;
  for (const std::string_view side : {before, after}) {
    diff.too_big |= side.size() > kDiffBytesMax ||
                    static_cast<uint64_t>(std::ranges::count(side, '\n')) > kDiffLinesMax;
  }
  if (diff.too_big) return diff;
  git_diff_options options;
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC;
  options.context_lines = context_lines;
  const auto on_hunk = [](const git_diff_delta*, const git_diff_hunk* hunk, void* to) {
    static_cast<BufferDiff*>(to)->hunks.append(hunk->header, hunk->header_len);
    return 0;
  };
  const auto on_line = [](const git_diff_delta*, const git_diff_hunk*, const git_diff_line* line,
                          void* to) {
    auto& out = *static_cast<BufferDiff*>(to);
    if (line->origin == GIT_DIFF_LINE_ADDITION) ++out.added;
    if (line->origin == GIT_DIFF_LINE_DELETION) ++out.removed;
    // The "no newline" marks ('=', '<', '>') carry their text with the line break in front.
    const bool plain = line->origin == ' ' || line->origin == '+' || line->origin == '-';
    if (plain) out.hunks += line->origin;
    out.hunks.append(line->content, line->content_len);
    return 0;
  };
  const int code =
      git_diff_buffers(before.data(), before.size(), nullptr, after.data(), after.size(), nullptr,
                       &options, nullptr, nullptr, on_hunk, on_line, &diff);
  if (code < 0) return FailGit(code, "compare two files");
  return diff;
}

}  // namespace bawn::git
