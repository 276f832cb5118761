// worker/ops.h
// bawn-worker's requests and answers (wire/worker.h carries them). One row per op in
// worker/table.cc: {op, handler, what it needs of the sandbox's lock}. Paths are escaped names
// (base/text.h) both ways; members that are absent have the empty value of their type.
//   request: {"op": …, "state": PATH, "sandbox": ID, …}
//     changes  {names_only, paths[]}       -> Done {review}
//     diff     {stat, names_only, nul_terminated, digest_only, colour, terminal, include_ignored,
//               paths[], json}             -> text on descriptor 1, then
//                                             Done {digest (null with names_only), paths: COUNT,
//                                                   ignored: COUNT, base_changed_since_open}
//              digest_only writes the digest and a newline there, json the review, names_only the
//              names, one a line (escaped) or each ended by NUL (as they are)
//     publish  {branch, message, author {name, email}, paths[], reviewed, unreviewed, yes_paths[],
//               lfs, merge, squash, include_dirty, update_tree, objects: is there a stream of the
//               objects of commits made inside (git/object_stream.h) on descriptor 4}
//              -> Prepared {digest, summary {added, modified, deleted}, refused[], gated[],
//                           builds[], notes[], merged[], unrecorded[], ignored, not_named, branch,
//                           ref,
//                           inside_commits (null: squash, never looked at), inside[] {commit,
//                           author, subject} (the newest 100), base_changed_since_open}
//                 refused, gated, builds, notes: {path, rule?, reason, hint?}
//              -> Done: the same, and {commit, parents[], tree_changed, deploy (the
//                           git command that takes it further), left[] {path, why} (with
//                           update_tree), live, warnings[],
//                           squashed, ended, state}
//     apply    {paths[], reviewed, unreviewed, yes_paths[], merge, undo}
//              -> Prepared as publish, without branch and ref; undo: {undo: true, summary}
//              -> Done: the same, and {written, deleted, directories, left[] {path, why},
//                           tree_changed, ended, state}
//     discard  {}                          -> Done {state}
//   Every Done also has `confined` {landlock, seccomp} (worker/confine.h).
//   Commit: {yes_paths[]}. Where the request had neither `reviewed` nor `unreviewed`, it is the yes
//   to what Prepared showed, gated paths included: a person was asked. Else every gated path must
//   be among the `yes_paths` of request or Commit.
//   failure: Failed {"message", "hint", "rule", "kind", "code", "errno"}; `code` is the ErrorCode
//   as a word, "failed_precondition".
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace bawn::worker {

// Serves one session on `socket_fd`; text goes to `text_fd`; `objects_fd` is read only where the
// request says that it is there. Returns the process's exit code: 0
// after Done, 1 after Failed or when the other end left a Prepared unanswered.
// Needs: git::InitGit() before, SIGPIPE ignored.
int ServeSession(int socket_fd, int text_fd, int objects_fd);

}  // namespace bawn::worker
