// publish/update_tree.h
// Ref, index and tree of a checked-out branch in one crash-safe act: the new index waits under
// git's own lock (git/index_update.h), the ref moves, the tree follows by an apply (apply.h), the
// index is renamed into place. After the ref has moved, a kill -9 anywhere is carried forward by
// the next command; before it, nothing has happened. Only where the tree and the index hold, in
// every touched path, what the branch holds.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "publish/intent.h"
#include "publish/publish.h"
#include "publish/tree.h"

namespace bawn::publish {

// Before the intent: the new index, complete and unlocked; its inode.
Result<uint64_t> PrepareTreeUpdate(const PublishContext& context, const git::Oid& parent_tree,
                                   const std::vector<TreeChange>& changes);
// After the intent, before the ref.
Result<> LockTreeUpdate(const PublishContext& context);
Result<> AbandonTreeUpdate(const PublishContext& context, const Intent& intent);
// After the ref; may be repeated. What diverged in the last moment is left as the user has it and
// named: the index then shows it as his modification. `prepared` as in the run that moved the ref;
// null when it is taken up later: then the changes are read again, and what is not what the commit
// holds is left.
Result<Applied> FinishTreeUpdate(const PublishContext& context, const Intent& intent,
                                 const PreparedPublish* prepared);

}  // namespace bawn::publish
