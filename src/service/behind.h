// service/behind.h
// What may follow the answer is left to one small process of Bawn's own: nobody's child, in a
// session of its own, with none of the caller's or a payload's descriptors, ended by its own
// deadline. What it leaves undone, killed or late, the next command does (a marker or
// `durable.pending` says what).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/state.h"

namespace bawn::service {

inline constexpr unsigned kBehindSeconds = 60;

// Starts it: fds[i], none below 3, is descriptor i in it, and no other is open; it exits with what
// `work` returns. Locks on the descriptors live until then.
Result<> LeaveBehind(const std::vector<int>& fds, const std::function<Result<>()>& work);

// After a publish or apply that ended the sandbox: its changes, set aside by now, are removed. A
// thousand files take longer to remove than to publish.
Result<> RemoveBehind(const workspace::StateDir& state, const std::string& id);

}  // namespace bawn::service
