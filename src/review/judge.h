// review/judge.h
// One change -> what git and the gates make of it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "git/repo.h"
#include "review/base_tree.h"
#include "review/content.h"
#include "review/review.h"
#include "review/surroundings.h"
#include "workspace/divergence.h"
#include "workspace/remembered.h"

namespace bawn::review {

class Judge {
 public:
  // All of `source` and `settings` must outlive the judge.
  struct Settings {
    bool names_only = false;
    bool file_mode = true;       // core.fileMode
    bool symlinks = true;        // core.symlinks
    bool refuse_unsafe = false;  // core.safecrlf=true
    bool lfs = false;            // ReviewOptions::lfs
  };
  static Result<Settings> ReadSettings(git::Repo* repo, bool names_only);
  Judge(const Source& source, const Settings& settings, BaseTree base,
        const workspace::Divergence& divergence)
      : source_(source),
        settings_(settings),
        surroundings_(source.set),
        base_(std::move(base)),
        divergence_(divergence) {}

  Result<Reviewed> Path(const workspace::Change& change);

 private:
  void JudgeName(Reviewed* reviewed);
  Result<bool> JudgeIgnored(const Reviewed& reviewed, const git::TreeEntry* base);
  Result<> RefuseForeign(Reviewed* reviewed);
  Result<> JudgeSides(Reviewed* reviewed, const git::TreeEntry* base);
  Result<> OldSide(Reviewed* reviewed, const git::TreeEntry* base);
  Result<> NewSide(Reviewed* reviewed);
  Result<> Filtered(Reviewed* reviewed, const git::TreeEntry* base, const git::Conversion& how);
  Result<> JudgeContents(Reviewed* reviewed);
  Result<> JudgeDivergence(Reviewed* reviewed, const git::TreeEntry* base);
  bool GoesIntoCommit(const Reviewed& reviewed, const git::TreeEntry* base) const;
  uint32_t ModeOf(workspace::EntryType type, uint32_t permissions,
                  const git::TreeEntry* base) const;

  const Source& source_;
  const Settings& settings_;
  Surroundings surroundings_;
  BaseTree base_;
  const workspace::Divergence& divergence_;
};

}  // namespace bawn::review
