// publish/finish.h
// What follows a publish or apply (DESIGN 6, "After"): the sandbox ends when everything was carried
// out, else what was carried is remembered per path. Every function may be repeated after a kill
// -9.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "publish/journal.h"
#include "workspace/changes.h"
#include "workspace/remove.h"
#include "workspace/state.h"

namespace bawn::publish {

using workspace::IsEnded;
using workspace::kApplied;
using workspace::kDiscarded;
using workspace::kPublished;

// meta.json says `state` first; then the pin ref goes, then the changes are set aside; who holds
// the marker removes them (workspace::RemoveEnded). Receipts, output and the apply journal stay.
Result<> EndSandbox(const workspace::SandboxDir& dir, workspace::SandboxMeta& meta,
                    const std::string& state);

// These changes are no longer pending.
struct CarriedPath {
  std::string path, fingerprint;
};
Result<> RememberCarried(const workspace::SandboxDir& dir, const std::vector<CarriedPath>& carried);

// In meta.extra: a later publish to `ref` goes on from the commit that this one made, and `tip`
// inside is what that commit stands for. With `moved_base` the base commit itself moved there. Does
// not write meta.json.
inline constexpr char kBaseKey[] = "base";  // of extra.inside; all others are refs
void RememberInside(workspace::SandboxMeta& meta, const std::string& ref, const std::string& tip,
                    bool moved_base);

// These directories of the user's tree were changed by Bawn alone: not a sign of the user's work.
Result<> RememberTouched(const workspace::SandboxDir& dir, int tree_fd,
                         const std::vector<std::string>& directories);

// Where a journal is taken up after a kill, before anything is done: the paths of its actions and
// the directories around them in which nothing has happened since its last line, so that today's
// times are Bawn's. `all`: that is each of them.
struct Untouched {
  std::set<std::string> paths;
  bool all = true;
};
Untouched UntouchedSince(int root_fd, const Journal& journal);

// After the last action of a journal: remembers or ends, and drops older journals. `tree_fd`: the
// user's tree as the last action just left it; when it was taken up later, only what is in `ours`
// is taken for Bawn's own doing.
Result<> FinishJournal(const workspace::SandboxDir& dir, workspace::SandboxMeta& meta, int tree_fd,
                       Journal& journal, const std::set<std::string>* ours = nullptr);

}  // namespace bawn::publish
