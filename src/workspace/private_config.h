// workspace/private_config.h
// The config of a private git directory, written by us from a closed list of keys (RT-04): what a
// user's config also holds (tokens in URLs and headers, helpers, programs, includes) never gets in.
// Pure: values in, text out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workspace/repository.h"

namespace bawn::workspace {

struct PrivateConfig {
  bool sha256 = false;
  bool bare = false;       // of the common directory: a linked work tree ignores it
  std::string work_tree;   // core.worktree; empty: not set
  std::string attributes;  // core.attributesFile; empty: not set
  std::string excludes;    // core.excludesFile; empty: not set
  Identity identity;
  std::vector<std::string> active_submodules;  // names: submodule.<name>.active = true
};

std::string PrivateConfigText(const PrivateConfig& facts, const GitConfig& config);

// A remote's URL without user, password, query and fragment ("ssh" keeps the user: it is part of
// the address and no secret). Absent: a form that cannot be made safe ("ext::…").
std::optional<std::string> WithoutUserinfo(std::string_view url);

}  // namespace bawn::workspace
