// review/content.h
// The bytes of the two sides of a reviewed path, as git would store them.
#pragma once

#include <string>

#include "base/result.h"
#include "git/repo.h"
#include "review/review.h"
#include "workspace/changes.h"
#include "workspace/state.h"

namespace bawn::review {

struct Source {
  const workspace::ChangeSet& set;
  const workspace::SandboxMeta& meta;
  git::Repo* repo;  // null: no repository
};

inline constexpr std::string_view kRuleSubmodule = "publish.submodule";
inline constexpr std::string_view kRuleNested = "publish.nested_repository";

// Through the built-in conversions; raw where another repository or a driver (which is never run)
// stands between the file and the blob. Empty when that side is nothing git stores. kConflict, kind
// "changed_while_reading", when the new side is not what the ChangeSet hashed.
Result<std::string> OldContent(const Source& source, const Reviewed& reviewed);
Result<std::string> NewContent(const Source& source, const Reviewed& reviewed);

// The raw bytes of the new side, checked against the hash.
Result<std::string> RawNew(const Source& source, const workspace::Change& change);

// False where a driver or an encoding stands between, or the path is not this repository's.
Result<bool> IsConverted(const Source& source, const Reviewed& reviewed);

}  // namespace bawn::review
