// publish/apply_run.h
// Carries out the actions of a journal on the user's tree in three steps: stage (everything new
// waits under temporary names beside its place, synced), mark, flip (one rename per path). A kill
// -9 at any point is taken up again by the same two functions: before the mark nothing has happened
// and the temporary names go; after it the rest is flipped. What stands at a path when its turn
// comes must be what was there when the actions were made, else that path is left alone: the old
// object is looked at after it was exchanged, and put back when it is another one, so there is no
// moment in which an edit of the user is lost. NOT protected: a program that holds the old file
// open and goes on writing into it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "publish/journal.h"

namespace bawn::publish {

// The bytes of one kPut action.
struct Content {
  UniqueFd file;       // read from its start
  std::string target;  // of a symlink
};
using ContentOf = std::function<Result<Content>(const Action& action, size_t index)>;

// Called before every step that changes anything; tests end the process in it.
using StepHook = std::function<void()>;

// Any error leaves a journal that RollBack clears.
Result<> Stage(int root_fd, Journal& journal, const ContentOf& content, const StepHook& step);
// The directories (relative, "" for the top) that nothing but our staging has changed: the last
// thing that happened to each is the appearance of a staged name.
std::vector<std::string> StagedInto(int root_fd, const Journal& journal);
// Removes what was staged. Only before the mark.
Result<> RollBack(int root_fd, const Journal& journal);
// Does what is not done yet; every action gets its word in the journal:
//   written    as planned
//   already    the tree had that state
//   diverged   something else stood there: left alone
//   not_empty  a directory with other things in it: left
//   failed …   with the error: left alone
Result<> Flip(int root_fd, Journal& journal, const StepHook& step);

}  // namespace bawn::publish
