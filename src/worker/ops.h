// worker/ops.h
// bawn-worker's requests and answers (wire/worker.h carries them). One row per op in worker/table.cc:
// {op, handler, needs the sandbox's lock}. The JSON members:
//   request: {"op": …, "state": PATH, "sandbox": ID, …}
//     changes   {names_only}                       -> {review}
//     diff      {stat, names_only, digest_only, colour, terminal, include_ignored, paths[], json}
//                                                  -> text on descriptor 1, {digest, paths, ignored}
//     publish   {branch, message, author?, paths[], reviewed?, unreviewed, yes_paths[], squash,
//                include_dirty, update_tree}       -> Prepared {digest, summary, gated[], refused[]}
//                                                  -> Done {commit, branch, ref, parents[], deploy, …}
//     apply     {paths[], reviewed?, unreviewed, yes_paths[], undo} -> Prepared …, Done {written, …}
//     discard   {}                                 -> Done {}
//   failure: Failed {"message", "hint", "rule", "kind", "code", "errno"}
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace bawn::worker {

// Serves one session on `socket_fd`; text goes to `text_fd`. Returns the process's exit code.
int ServeSession(int socket_fd, int text_fd);

}  // namespace bawn::worker
