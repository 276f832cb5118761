#include "git/merge.h"

#include <algorithm>

#include "git/diff.h"
#include "git/impl.h"

namespace bawn::git {
namespace {

bool Comparable(std::string_view text) {
  return !IsBinary(text) && text.size() <= kDiffBytesMax &&
         static_cast<uint64_t>(std::ranges::count(text, '\n')) <= kDiffLinesMax;
}

git_merge_file_input Input(std::string_view text) {
  git_merge_file_input input;
  git_merge_file_input_init(&input, GIT_MERGE_FILE_INPUT_VERSION);
  input.ptr = text.data();
  input.size = text.size();
  return input;
}

}  // namespace

Result<std::optional<std::string>> MergeTexts(std::string_view base, std::string_view ours,
                                              std::string_view theirs) {
  if (ours == theirs || base == theirs) return std::optional<std::string>(ours);
  if (base == ours) return std::optional<std::string>(theirs);
  if (!Comparable(base) || !Comparable(ours) || !Comparable(theirs)) return std::nullopt;
  const git_merge_file_input ancestor = Input(base);
  const git_merge_file_input left = Input(ours);
  const git_merge_file_input right = Input(theirs);
  git_merge_file_options options;
  git_merge_file_options_init(&options, GIT_MERGE_FILE_OPTIONS_VERSION);
  git_merge_file_result result = {};
  const int code = git_merge_file(&result, &ancestor, &left, &right, &options);
  if (code < 0) return FailGit(code, "merge a file");
  std::optional<std::string> merged;
  if (result.automergeable != 0)
    merged.emplace(result.ptr == nullptr ? "" : result.ptr, result.len);
  git_merge_file_result_free(&result);
  return merged;
}

}  // namespace bawn::git
