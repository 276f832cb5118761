// publish/deploy.h
// The git command that takes a published branch further (I1.8): for a person to read and type.
#pragma once

#include <string>

#include "base/result.h"
#include "git/repo.h"

namespace bawn::publish {

// Into the user's work tree by a merge; where that was moved already (`update_tree`), to the
// branch's remote, or without one into another work tree.
Result<std::string> DeployCommand(git::Repo& repo, const std::string& ref, bool update_tree);

}  // namespace bawn::publish
