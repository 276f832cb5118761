// service/recover.h
// What a killed Bawn left behind is found by the marker of each sandbox somebody is at work on
// (workspace/marker.h): one of run, or of the worker's publish, apply and discard. The next command
// that finds one whose lock is free ends what is left, writes the receipt `interrupted` where a job
// has none, and says so.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/state.h"

namespace bawn::service {

// Below a sandbox's own directory: what its Plan mounts from there, policy::JobRequest's
// private_dir.
inline constexpr char kPrivateDir[] = "private";

// One line per sandbox that was recovered. Cheap when nothing was interrupted. Receipts whose time
// is over go too (service/retention.h).
Result<std::vector<std::string>> RecoverInterrupted(const workspace::StateDir& state);

// Removes what only a running sandbox needs. With `changes` false also its layers: what stays is
// meta.json, receipts and kept output.
Result<> RemoveRuntimeParts(const workspace::SandboxDir& dir, bool keep_changes);

}  // namespace bawn::service
