// service/recover.h
// What a killed Bawn left behind is found by a marker per running sandbox (<state>/running/<id>),
// made before anything else and removed last. The next command that finds a marker whose lock is
// free ends what is left, writes the receipt `interrupted`, and says so.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "workspace/state.h"

namespace bawn::service {

// Below a sandbox's own directory: what its Plan mounts from there, policy::JobRequest's
// private_dir.
inline constexpr char kPrivateDir[] = "private";

Result<> MarkRunning(const workspace::StateDir& state, const std::string& id);
Result<> MarkEnded(const workspace::StateDir& state, const std::string& id);

// One line per sandbox that was recovered. Cheap when nothing was interrupted.
Result<std::vector<std::string>> RecoverInterrupted(const workspace::StateDir& state);

// Removes what only a running sandbox needs. With `changes` false also its layers: what stays is
// meta.json, receipts and kept output.
Result<> RemoveRuntimeParts(const workspace::SandboxDir& dir, bool keep_changes);

}  // namespace bawn::service
