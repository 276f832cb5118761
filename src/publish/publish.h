// publish/publish.h
// Changes -> one commit on a branch of the trusted repository. Two steps with nothing recomputed in
// between and the sandbox's lock held throughout: Prepare reads, judges and writes nothing; Commit
// writes one synced pack, then moves the ref by compare-and-swap (RT-23). No tree of the user and
// no index is touched. The committer says Bawn; the author is the user. Commits made inside come
// along below (publish/inside.h), with their own authors; what the tree holds beyond them is one
// commit more. The tree that is published is the same with `squash` and without.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "git/repo.h"
#include "publish/apply.h"
#include "publish/inside.h"
#include "publish/select.h"
#include "review/review.h"
#include "workspace/changes.h"
#include "workspace/state.h"

namespace bawn::publish {

inline constexpr size_t kMessageBytesMax = 1 << 20;

struct PublishContext {
  const workspace::StateDir& state;
  const workspace::SandboxDir& dir;  // locked
  workspace::SandboxMeta& meta;      // written through
  git::Repo& repo;
  StepHook step = [] {};
};

struct PublishRequest {
  std::string branch;  // "x" or "refs/heads/x"; empty: "bawn/<name of the sandbox>"
  std::string message;
  std::string author_name, author_email;
  std::vector<std::string> paths, yes_paths;
  bool include_dirty = false;
  bool lfs = false;          // publish/lfs_store.h
  bool merge = false;        // publish/merge.h
  bool squash = false;       // one commit, whatever was committed inside
  int objects_fd = -1;       // git/object_stream.h, borrowed; -1: nothing was committed inside
  bool update_tree = false;  // onto the branch that is checked out here, with index and tree
};

struct PreparedPublish {
  workspace::ChangeSet set;
  review::Review review;
  Selection selection;  // points into `review`
  std::string ref;
  git::Oid expected;  // of the ref; kZeroOid: must not exist
  git::Oid parent;    // empty: a root commit
  bool update_tree = false;
  bool squash = false;
  std::optional<Merges> merges;
  std::optional<git::ObjectStream> stream;
  Inside inside;
  std::vector<Named> inside_gates;
};

// Opens the repository of the sandbox. kFailedPrecondition with the remedy (apply) when the
// workspace is none; kUnavailable for a format that cannot be written (sha256, reftable).
Result<git::Repo> OpenRepository(const workspace::SandboxMeta& meta);

Result<PreparedPublish> PreparePublish(const PublishContext& context,
                                       const PublishRequest& request);

struct Published {
  git::Oid commit;
  std::string ref;
  std::vector<git::Oid> parents;
  bool unsigned_although_asked = false;  // commit.gpgsign is set and was not honoured
  bool message_unused = false;           // everything was committed inside
  bool ended = false;                    // the sandbox: everything was carried out
  std::string deploy;                    // publish/deploy.h
  std::optional<Applied> tree;           // with update_tree
};

// The selection for the yes-paths that there are now.
Result<Selection> SelectForPublish(const PreparedPublish& prepared, const PublishRequest& request);

// `request.yes_paths` may have grown since Prepare (the answers on a terminal). Fails as
// CheckComplete says; kConflict when the ref moved.
Result<Published> CommitPublish(const PublishContext& context, PreparedPublish& prepared,
                                const PublishRequest& request);

// What a kill -9 between moving the ref and remembering it left: before anything is read for an
// act.
Result<> RecoverPublish(const PublishContext& context);

// The members of Prepared and Done (worker/ops.h).
JsonObject ToJson(const PreparedPublish& prepared);
JsonObject ToJson(const PreparedPublish& prepared, const Published& published,
                  const workspace::SandboxMeta& meta);

}  // namespace bawn::publish
