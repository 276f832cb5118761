// workspace/repository_read.h
// Pieces of the repository reader that other files of this room need. Every size is bounded here.
// Trust: these read the host's own repository before anything ran in the sandbox.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workspace/git_syntax.h"
#include "workspace/repository.h"

namespace bawn::workspace {

inline constexpr size_t kSmallFileMax = 64 << 10;  // HEAD, commondir, .git files, loose refs
inline constexpr size_t kConfigFileMax = 4 << 20;
inline constexpr size_t kPackedRefsMax = 256 << 20;
inline constexpr size_t kRefsMax = 1'000'000;
inline constexpr int kAlternatesDepthMax = 5;  // as git
inline constexpr int kSymbolicDepthMax = 5;    // as git
inline constexpr size_t kSubmodulesMax = 1'000;
inline constexpr int kSubmoduleDepthMax = 10;

// The repository whose work tree's top is exactly `top` (a real path), without its submodules.
// Absent: no `.git` there, or not one with a work tree.
Result<std::optional<Repository>> ReadRepositoryAt(const std::string& top);

// refs.cc: head_ref, head_commit, refs, symbolic_refs.
Result<> ReadRefs(int git_dir_fd, int common_dir_fd, Repository* repository);
// alternates.cc: object_dirs, missing_alternates.
Result<> ReadObjectDirs(int common_dir_fd, Repository* repository);
// submodules.cc: submodules.
Result<> ReadSubmodules(Repository* repository);

// A file as text, absent when it does not exist.
Result<std::optional<std::string>> ReadIfExists(int dirfd, const std::string& name,
                                                size_t bytes_max);
// The entries of one config file without includes; empty when it does not exist.
Result<std::vector<ConfigEntry>> ReadConfigFile(int dirfd, const std::string& name);
// The real path behind a descriptor.
Result<std::string> PathOfFd(int fd);

}  // namespace bawn::workspace
