// plan/path_alias.h
// One spelling for the names that a file system elsewhere takes for the same file.
#pragma once

#include <string>
#include <string_view>

namespace bawn::plan {

// ASCII lower case; without the code points that HFS+ ignores; without what NTFS drops: an
// alternate stream (":…") and trailing dots and blanks. Source: git's utf8.c (next_hfs_char) and
// path.c (is_ntfs_dotgit). "." and ".." become empty.
std::string FoldName(std::string_view component);

}  // namespace bawn::plan
