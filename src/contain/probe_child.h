// contain/probe_child.h
// One probe in a child of its own: what it does to itself dies with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "contain/probe.h"

namespace bawn::contain {

// What a probe found, in words ("ABI 7"), or the call that failed.
using Probe = std::function<Result<std::string>()>;

// Runs `probe` in a child in new namespaces (CLONE_NEW*; with NEWUSER the caller's own id is mapped
// first) and brings its answer back. A child that dies, or does not answer within 10 s, is an error
// without errno.
Result<std::string> TryInChild(uint64_t namespaces, const Probe& probe);

// `missing` for the errnos by which a kernel, an LSM or a container says no, or a decision of ours
// (kUnavailable, kFailedPrecondition); else `unknown`.
ProbeFact FactOf(const char* name, const Result<std::string>& answer, const std::string& remedy);

}  // namespace bawn::contain
