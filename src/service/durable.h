// service/durable.h
// Durability of kept changes, off the reply path (RT-13): one small process of its own starts
// write-back of the sandbox's file system (one syncfs through a descriptor of the upper), then
// removes the overlay's "volatile" marker. It holds no descriptor of a payload or of the caller and
// ends itself after 60 s. `durable.pending` in the sandbox's directory exists until it is done.
#pragma once

#include "base/result.h"
#include "workspace/state.h"

namespace bawn::service {

inline constexpr unsigned kWriteBackSeconds = 60;

Result<> StartWriteBack(const workspace::SandboxDir& dir);

// Before the layers are mounted again: waits until the process is done or has given up.
Result<> WaitForWriteBack(const workspace::SandboxDir& dir);

// Whether it is done: "synced" or "pending".
const char* DurableState(const workspace::SandboxDir& dir);

}  // namespace bawn::service
