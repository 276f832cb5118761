// workspace/git_include.h
// include.path and includeIf.*.path: where they point and whether their condition holds.
// Source: git-config(1) "Conditional includes"; config.c.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workspace/git_syntax.h"
#include "workspace/repository.h"

namespace bawn::workspace {

struct IncludeContext {
  const Repository* repository = nullptr;  // null: not in one
  std::string home;
  const std::vector<std::string>* environment = nullptr;
};

// Is it an include? `condition` is empty for include.path.
bool IsInclude(std::string_view key, std::string* condition);

// gitdir:, gitdir/i:, onbranch:; an unknown condition does not hold. `file` is the including file,
// empty for the environment.
Result<bool> ConditionHolds(const IncludeContext& context, std::string_view condition,
                            const std::string& file);
bool AnyMatches(std::string_view pattern, const std::vector<std::string>& texts);

// ~/x, ~user/x, %(prefix)/x, or relative to the including file's directory as it is spelled.
Result<std::string> IncludedPath(const IncludeContext& context, const std::string& value,
                                 const std::string& file);

// GIT_CONFIG_PARAMETERS: 'key=value' or 'key'='value', shell-quoted, separated by spaces.
Result<> ParseParameters(std::string_view text, std::vector<ConfigEntry>* entries);

}  // namespace bawn::workspace
