// workspace/index_lookup.h
// Which of a few paths does an index hold? Reads a pinned index of the trusted repository in blocks
// and stops behind the last name asked for: no parser of the whole file, nothing kept.
// Source: gitformat-index(5), versions 2 to 4, SHA-1 and SHA-256, split indexes by two files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace bawn::workspace {

// `paths` sorted by bytes; returns those that are entries of any stage. A file that is no index of
// a known version is kInvalidArgument; its text names the reason.
Result<std::vector<std::string>> FindInIndex(int index_fd, bool sha256,
                                             const std::vector<std::string>& paths);

// Names of the shared parts of split indexes in a git directory; at most 64.
Result<std::vector<std::string>> SharedIndexes(int git_dir_fd);

}  // namespace bawn::workspace
