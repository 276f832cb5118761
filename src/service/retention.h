// service/retention.h
// Receipts and kept output go seven days after their job ended, what an apply replaced seven days
// after it, at the next command (promise 1);
// with the last of them goes the directory of a sandbox that has no changes either.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "workspace/state.h"

namespace bawn::service {

// One fstatat(2) unless something is due: <state>/next-sweep carries, as its modification time,
// when the oldest of all will be.
Result<> RemoveExpired(const workspace::StateDir& state, int64_t now_ns);

}  // namespace bawn::service
