// contain/probes.h
// The single probes of contain/probe.cc. Each does the thing it names, in the calling process,
// which is a child of its own; the namespaces it must be started in stand beside it. The text of a
// success says what was seen.
#pragma once

#include <string>

#include "base/result.h"
#include "contain/subids.h"

namespace bawn::contain {

// ---- probe_namespaces.cc

Result<std::string> ProbeMapped();         // NEWUSER: ids are the mapped ones, capabilities held
Result<std::string> ProbeAllNamespaces();  // all seven
Result<std::string> ProbeSecondUserns();   // all seven: a nested one locks the mounts
Result<std::string> ProbeNamespaceLid();   // all seven, fresh proc: max_user_namespaces = 0 binds
Result<std::string> ProbeFreshProc();      // all seven
Result<std::string> ProbeNetwork();        // all seven: only lo, up, and no route

// ---- probe_mounts.cc

Result<std::string> ProbeOverlay(bool is_volatile);  // USER and NS: upper on a private tmpfs
// USER and NS: upper and work in `directory`, which holds empty "upper" and "work"; the caller
// removes it.
Result<std::string> ProbeOverlayIn(const std::string& directory);
Result<std::string> ProbeDetachedExec();    // USER and NS: how bawn-init is run
Result<std::string> ProbeIdmappedMounts();  // root, NS

// ---- probe_walls.cc

Result<std::string> ProbeLandlock();
Result<std::string> ProbeSeccomp();
Result<std::string> ProbePidfd();
Result<std::string> ProbeSealedMemfd();

}  // namespace bawn::contain
