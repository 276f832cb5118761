// workspace/marker.h
// <state>/running/<id>: somebody is at work on that sandbox and would leave something half done if
// he were killed. Made before anything else, locked while the work goes on, removed last: a marker
// whose lock is free names what the next command has to end (service/recover.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "workspace/state.h"

namespace bawn::workspace {

// The descriptor is the lock. A marker that a killed command left is taken over.
Result<UniqueFd> Mark(const StateDir& state, const std::string& id);
// May be repeated.
Result<> Unmark(const StateDir& state, const std::string& id);

Result<std::vector<std::string>> MarkedIds(const StateDir& state);
// The lock of a marker that nobody holds; absent when its maker is at work, or has ended it.
Result<std::optional<UniqueFd>> TakeMarker(const StateDir& state, const std::string& id);

}  // namespace bawn::workspace
