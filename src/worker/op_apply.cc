#include <utility>

#include "publish/apply.h"
#include "review/review.h"
#include "worker/session.h"

namespace bawn::worker {
namespace {

JsonObject AppliedJson(JsonObject json, const publish::Applied& applied, const Session& session) {
  json["written"] = applied.written;
  json["deleted"] = applied.deleted;
  json["directories"] = applied.directories;
  json["left"] = publish::LeftToJson(applied);
  json["tree_changed"] = applied.written + applied.deleted + applied.directories > 0;
  json["ended"] = applied.ended;
  json["state"] = session.meta.state;
  return json;
}

Result<Json> RunUndo(Session& session, const publish::ApplyContext& context) {
  JsonObject prepared;
  prepared["undo"] = true;
  BAWN_CHECK_OK(session.Ask(prepared));
  publish::Applied applied = BAWN_TRY(publish::Undo(context));
  return Json(AppliedJson(std::move(prepared), applied, session));
}

}  // namespace

Result<Json> RunApply(Session& session) {
  session.meta = BAWN_TRY(workspace::ReadMeta(session.dir));
  BAWN_CHECK_OK(TakeUp(session));
  publish::ApplyContext context{session.state, session.dir, session.meta};
  if (BAWN_TRY(FlagMember(session.request, "undo"))) return RunUndo(session, context);

  publish::SelectOptions options{.purpose = publish::Purpose::kApply,
                                 .paths = BAWN_TRY(NamesMember(session.request, "paths")),
                                 .yes_paths = BAWN_TRY(NamesMember(session.request, "yes_paths"))};
  workspace::ChangeSet set = BAWN_TRY(workspace::ReadChanges(session.dir, session.meta, {}));
  std::optional<git::Repo> repo = BAWN_TRY(OpenAnyRepository(session.meta));
  review::Review review =
      BAWN_TRY(review::MakeReview(set, session.meta, repo ? &*repo : nullptr, {}));
  std::optional<publish::Merges> merges;
  if (BAWN_TRY(FlagMember(session.request, "merge"))) {
    merges = BAWN_TRY(publish::MergeDiverged({set, session.meta, repo ? &*repo : nullptr}, review));
    options.merges = &*merges;
  }
  publish::Selection selection = BAWN_TRY(publish::Select(review, options));
  if (selection.taken.empty()) {
    BAWN_CHECK_OK(publish::CheckComplete(selection, options.purpose));
  }
  BAWN_CHECK_OK(
      AskConsent(session, publish::ToJson(selection), selection, review.digest, options.yes_paths));
  selection = BAWN_TRY(publish::Select(review, options));
  BAWN_CHECK_OK(publish::CheckComplete(selection, options.purpose));
  std::vector<publish::Chosen> chosen;
  chosen.reserve(selection.taken.size());
  for (const publish::Selection::Taken& taken : selection.taken) {
    chosen.push_back({&taken.reviewed->change, taken.consented, taken.merged});
  }
  publish::Applied applied = BAWN_TRY(publish::Apply(context, set, chosen, selection.CoversAll()));
  JsonObject answer = publish::ToJson(selection);
  answer["digest"] = review.digest;
  return Json(AppliedJson(std::move(answer), applied, session));
}

}  // namespace bawn::worker
