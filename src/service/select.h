// service/select.h
// Which sandbox a command means (DESIGN 8): an id or a readable name; "@last"; or, without a word,
// the newest of this workspace for questions and the only one for acts.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "service/bawn.h"
#include "service/context.h"
#include "workspace/state.h"

namespace bawn::service {

enum class Meaning { kQuestion, kAct };

Result<workspace::SandboxMeta> SelectSandbox(const Caller& caller, const workspace::StateDir& state,
                                             const SandboxSelector& selector, Meaning meaning);

// The only live sandbox of that name or id, found by its marker: a job in one must not cost a look
// at the records of all that ever ran. Absent: none, or several.
Result<std::optional<workspace::SandboxMeta>> FindLive(const workspace::StateDir& state,
                                                       const std::string& name);

// The workspace a command means: -w, else the enclosing work tree, else the current directory.
Result<std::string> FindWorkspace(const Caller& caller, const std::string& dash_w);

// One line for a person: "brave-otter-k3f  2 h ago  make test".
std::string Describe(const workspace::SandboxMeta& meta);

}  // namespace bawn::service
