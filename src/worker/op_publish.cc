#include <utility>

#include "publish/publish.h"
#include "worker/session.h"

namespace bawn::worker {
namespace {

Result<publish::PublishRequest> RequestOf(const Json& request) {
  publish::PublishRequest out;
  out.branch = BAWN_TRY(NameMember(request, "branch"));
  out.message = BAWN_TRY(TextMember(request, "message"));
  if (const Json* author = request.Get("author")) {
    out.author_name = BAWN_TRY(NameMember(*author, "name"));
    out.author_email = BAWN_TRY(NameMember(*author, "email"));
  }
  out.paths = BAWN_TRY(NamesMember(request, "paths"));
  out.yes_paths = BAWN_TRY(NamesMember(request, "yes_paths"));
  out.lfs = BAWN_TRY(FlagMember(request, "lfs"));
  out.merge = BAWN_TRY(FlagMember(request, "merge"));
  out.squash = BAWN_TRY(FlagMember(request, "squash"));
  out.update_tree = BAWN_TRY(FlagMember(request, "update_tree"));
  out.include_dirty = BAWN_TRY(FlagMember(request, "include_dirty"));
  return out;
}

}  // namespace

Result<Json> RunPublish(Session& session) {
  publish::PublishRequest request = BAWN_TRY(RequestOf(session.request));
  if (BAWN_TRY(FlagMember(session.request, "objects"))) request.objects_fd = session.objects_fd;
  session.meta = BAWN_TRY(workspace::ReadMeta(session.dir));
  BAWN_CHECK_OK(TakeUp(session));
  git::Repo repo = BAWN_TRY(publish::OpenRepository(session.meta));
  publish::PublishContext context{session.state, session.dir, session.meta, repo};
  publish::PreparedPublish prepared = BAWN_TRY(publish::PreparePublish(context, request));
  if (prepared.selection.taken.empty()) {
    BAWN_CHECK_OK(publish::CheckComplete(prepared.selection, publish::Purpose::kPublish));
  }
  BAWN_CHECK_OK(AskConsent(session, publish::ToJson(prepared), prepared.selection,
                           prepared.review.digest, request.yes_paths));
  publish::Published published = BAWN_TRY(publish::CommitPublish(context, prepared, request));
  return Json(publish::ToJson(prepared, published, session.meta));
}

}  // namespace bawn::worker
