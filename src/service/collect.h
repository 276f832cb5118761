// service/collect.h
// Commits made inside leave a sandbox as a stream of objects that a job in it prints (RT-11): its
// changes are mounted again, as `--in` does, git inside lists what HEAD has beyond the base commit,
// and bytes are all that comes out. Nobody here looks at them: bawn-worker parses them behind its
// own walls. The payload's git directory is opened by no program outside; whether it can hold
// commits at all is told by the names in its objects/ directory.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "service/context.h"
#include "workspace/state.h"

namespace bawn::service {

inline constexpr uint64_t kCollectBytesMax = 512 << 20;
inline constexpr uint64_t kCollectMs = 120'000;

// Is this the receipt of such a job? It is no job that anybody asked for.
bool IsCollectJob(const Json& receipt);

// A nameless file with the stream; invalid: nothing was committed. The sandbox is not live, and its
// lock is free before and after.
Result<UniqueFd> CollectCommits(const Caller& caller, const workspace::StateDir& state,
                                const workspace::SandboxMeta& meta);

}  // namespace bawn::service
