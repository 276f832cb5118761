// publish/select.h
// Which reviewed changes an act carries out, which it refuses by name, which need a yes first.
// Decided here, once, for publish and apply; what carries them out looks at nothing of this again.
//   refused  not carried out, whatever is said with this act: rule, reason, and what to do instead
//   gated    carried out only when named by `--yes-path`; without it the whole act is refused
//   builds   carried out, and said apart: runs when someone builds
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "publish/merge.h"
#include "review/review.h"

namespace bawn::publish {

enum class Purpose : uint8_t { kPublish, kApply };

struct SelectOptions {
  Purpose purpose = Purpose::kPublish;
  std::vector<std::string> paths;      // these and what is below them; empty: all
  std::vector<std::string> yes_paths;  // exact
  bool include_dirty = false;
  const Merges* merges = nullptr;            // absent: nothing is merged. Outlives the Selection
  std::vector<std::string> also_known = {};  // paths that only commits made inside change
};

struct Named {
  std::string path, rule, reason, hint;
};

struct Selection {
  struct Taken {
    const review::Reviewed* reviewed = nullptr;
    bool consented = false;          // the tree changed at or around it, and that was said yes to
    const Merged* merged = nullptr;  // what is carried out instead of the sandbox's own
  };
  std::vector<Taken> taken;  // sorted by path; points into the Review
  std::vector<Named> refused, gated, builds, notes;
  std::vector<std::string> merged;  // paths, with what the user changed
  std::vector<std::string>
      unrecorded;  // publish: git keeps nothing of it (empty directories, modes)
  uint64_t ignored = 0;
  uint64_t not_named = 0;                         // outside `paths`
  uint64_t added = 0, modified = 0, deleted = 0;  // of `taken`

  // Nothing of the sandbox stays pending after this.
  bool CoversAll() const { return refused.empty() && not_named == 0; }
};

// kInvalidArgument when a path or yes-path names nothing that changed (a typo must not pass for a
// yes).
Result<Selection> Select(const review::Review& review, const SelectOptions& options);

// kPermissionDenied, naming every gated path, when one is left without a yes;
// kFailedPrecondition when nothing is left to do.
Result<> CheckComplete(const Selection& selection, Purpose purpose);

// {summary {added, modified, deleted}, refused[], gated[], builds[], unrecorded[], ignored, …}
JsonObject ToJson(const Selection& selection);

// RT-15: one digest is published and applied, the one that was shown. `reviewed` is compared;
// without it `unreviewed` must have been said.
struct Consent {
  std::string reviewed;
  bool unreviewed = false;
};
Result<> CheckConsent(const Consent& consent, const std::string& digest);

}  // namespace bawn::publish
