// changes, diff: what a sandbox changed, as a value and as text.
#include <utility>

#include "base/text.h"
#include "git/repo.h"
#include "review/review.h"
#include "sys/files.h"
#include "worker/session.h"
#include "workspace/changes.h"

namespace bawn::worker {
namespace {

struct Looked {
  workspace::ChangeSet set;
  std::optional<git::Repo> repo;
  review::Review review;
};

Result<Looked> Look(Session& session, const review::ReviewOptions& options) {
  session.meta = BAWN_TRY(workspace::ReadMeta(session.dir));
  BAWN_CHECK_OK(TakeUp(session));
  Looked looked;
  looked.set =
      BAWN_TRY(workspace::ReadChanges(session.dir, session.meta, {.hash = !options.names_only}));
  looked.repo = BAWN_TRY(OpenAnyRepository(session.meta));
  looked.review = BAWN_TRY(
      review::MakeReview(looked.set, session.meta, looked.repo ? &*looked.repo : nullptr, options));
  return looked;
}

Result<> WriteNames(int fd, const review::Review& review, bool nul, bool include_ignored) {
  std::string text;
  for (const review::Reviewed& one : review.paths) {
    if (one.ignored && !include_ignored) continue;
    text += nul ? one.change.path : EscapeName(one.change.path);
    text += nul ? '\0' : '\n';
  }
  return sys::WriteAll(fd, text);
}

Result<> WriteText(const Session& session, Looked& looked) {
  const Json& request = session.request;
  int fd = session.text_fd;
  review::RenderOptions render;
  render.colour = BAWN_TRY(FlagMember(request, "colour"));
  render.terminal = BAWN_TRY(FlagMember(request, "terminal"));
  render.include_ignored = BAWN_TRY(FlagMember(request, "include_ignored"));
  if (BAWN_TRY(FlagMember(request, "digest_only"))) {
    return sys::WriteAll(fd, looked.review.digest + "\n");
  }
  if (BAWN_TRY(FlagMember(request, "json"))) {
    return sys::WriteAll(fd, ToJsonText(review::ToJson(looked.review), 2) + "\n");
  }
  if (BAWN_TRY(FlagMember(request, "names_only"))) {
    return WriteNames(fd, looked.review, BAWN_TRY(FlagMember(request, "nul_terminated")),
                      render.include_ignored);
  }
  if (BAWN_TRY(FlagMember(request, "stat"))) {
    return review::RenderStat(looked.review, render, fd);
  }
  git::Repo* repo = looked.repo ? &*looked.repo : nullptr;
  return review::RenderPatch(looked.review, looked.set, repo, session.meta, render, fd);
}

Result<review::ReviewOptions> OptionsOf(const Json& request) {
  review::ReviewOptions options;
  options.names_only = BAWN_TRY(FlagMember(request, "names_only"));
  options.stat = BAWN_TRY(FlagMember(request, "stat"));
  options.paths = BAWN_TRY(NamesMember(request, "paths"));
  return options;
}

}  // namespace

Result<Json> RunChanges(Session& session) {
  review::ReviewOptions options = BAWN_TRY(OptionsOf(session.request));
  Looked looked = BAWN_TRY(Look(session, options));
  JsonObject answer;
  answer["review"] = review::ToJson(looked.review);
  return Json(std::move(answer));
}

Result<Json> RunDiff(Session& session) {
  review::ReviewOptions options = BAWN_TRY(OptionsOf(session.request));
  Looked looked = BAWN_TRY(Look(session, options));
  BAWN_CHECK_OK(WriteText(session, looked));
  JsonObject answer;
  answer["digest"] = options.names_only ? Json() : Json(looked.review.digest);
  answer["paths"] = uint64_t{looked.review.paths.size() - looked.review.ignored_count};
  answer["ignored"] = looked.review.ignored_count;
  answer["base_changed_since_open"] = looked.review.base_changed_since_open;
  return Json(std::move(answer));
}

}  // namespace bawn::worker
