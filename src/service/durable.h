// service/durable.h
// Durability of kept changes, off the reply path (RT-13): one small process (service/behind.h)
// starts write-back of the sandbox's file system (one syncfs through a descriptor of the upper),
// then removes the overlay's "volatile" marker. `durable.pending` in the sandbox's directory exists
// until it is done.
#pragma once

#include <string>

#include "base/result.h"
#include "workspace/state.h"

namespace bawn::service {

Result<> StartWriteBack(const workspace::SandboxDir& dir);

// Before the layers are mounted again: waits until the process is done; does its work where it was
// killed or has given up.
Result<> WaitForWriteBack(const workspace::SandboxDir& dir);
// For those who only read: does its work where nobody else does, and waits for nobody.
Result<> TakeOverWriteBack(const workspace::SandboxDir& dir);

// The machine went down before the changes were on disk: the mark of a volatile mount is older than
// its start. Noted in meta.json before the mark goes, because then nothing else tells.
Result<> NoteLostWriteBack(const workspace::SandboxDir& dir, workspace::SandboxMeta* meta);
// What to say of such a sandbox; empty for every other.
std::string LostWriteBack(const workspace::SandboxMeta& meta);

// Whether it is done: "synced" or "pending".
const char* DurableState(const workspace::SandboxDir& dir);

}  // namespace bawn::service
