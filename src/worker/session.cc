#include "worker/session.h"

#include <utility>

#include "base/text.h"
#include "publish/apply.h"
#include "publish/intent.h"
#include "publish/publish.h"
#include "sys/files.h"
#include "wire/worker.h"
#include "workspace/marker.h"

namespace bawn::worker {
namespace {

std::unexpected<Error> WrongType(std::string_view key, std::string_view expected) {
  return Fail(ErrorCode::kInvalidArgument,
              "request: " + std::string(key) + " is not " + std::string(expected), "",
              "worker.request");
}

}  // namespace

Result<Json> Session::Ask(const JsonObject& prepared) const {
  BAWN_CHECK_OK(
      wire::SendWorkerMessage(socket_fd, wire::WorkerFrame::kPrepared, ToJsonText(Json(prepared))));
  Result<wire::WorkerMessage> answer = wire::ReceiveWorkerMessage(socket_fd);
  if (!answer && answer.error().code == ErrorCode::kUnavailable) {
    auto failed = Fail(ErrorCode::kFailedPrecondition, "not confirmed: nothing was done");
    failed.error().kind = kUnanswered;
    return failed;
  }
  if (!answer) return std::unexpected(std::move(answer).error());
  if (answer->frame != wire::WorkerFrame::kCommit) {
    return Fail(ErrorCode::kInternal, "a frame that is no Commit after Prepared");
  }
  return ParseJson(answer->json);
}

Result<std::string> TextMember(const Json& request, std::string_view key) {
  const Json* member = request.Get(key);
  if (member == nullptr || member->is_null()) return std::string();
  if (member->AsString() == nullptr) return WrongType(key, "a string");
  return *member->AsString();
}

Result<std::string> NameMember(const Json& request, std::string_view key) {
  std::optional<std::string> name = UnescapeName(BAWN_TRY(TextMember(request, key)));
  if (!name) return WrongType(key, "an escaped name");
  return *name;
}

Result<bool> FlagMember(const Json& request, std::string_view key) {
  const Json* member = request.Get(key);
  if (member == nullptr || member->is_null()) return false;
  if (member->AsBool() == nullptr) return WrongType(key, "true or false");
  return *member->AsBool();
}

Result<std::vector<std::string>> NamesMember(const Json& request, std::string_view key) {
  std::vector<std::string> names;
  const Json* member = request.Get(key);
  if (member == nullptr || member->is_null()) return names;
  if (member->AsArray() == nullptr) return WrongType(key, "an array");
  for (const Json& one : *member->AsArray()) {
    std::optional<std::string> name;
    if (one.AsString() != nullptr) name = UnescapeName(*one.AsString());
    if (!name || name->empty()) return WrongType(key, "an array of escaped names");
    while (name->size() > 1 && name->ends_with('/')) name->pop_back();
    names.push_back(std::move(*name));
  }
  return names;
}

Result<> AskConsent(const Session& session, JsonObject prepared,
                    const publish::Selection& selection, const std::string& digest,
                    std::vector<std::string>& yes_paths) {
  publish::Consent consent;
  consent.reviewed = BAWN_TRY(TextMember(session.request, "reviewed"));
  consent.unreviewed = BAWN_TRY(FlagMember(session.request, "unreviewed"));
  bool in_words = consent.unreviewed || !consent.reviewed.empty();
  if (in_words) BAWN_CHECK_OK(publish::CheckConsent(consent, digest));
  prepared["digest"] = digest;
  Json commit = BAWN_TRY(session.Ask(prepared));
  for (std::string& path : BAWN_TRY(NamesMember(commit, "yes_paths"))) {
    yes_paths.push_back(std::move(path));
  }
  if (in_words) return {};
  for (const publish::Named& gated : selection.gated) yes_paths.push_back(gated.path);
  return {};
}

Result<std::optional<git::Repo>> OpenAnyRepository(const workspace::SandboxMeta& meta) {
  if (meta.git_dir.empty()) return std::optional<git::Repo>();
  Result<git::Repo> repo = publish::OpenRepository(meta);
  if (repo) return std::optional<git::Repo>(std::move(*repo));
  if (repo.error().rule == "git.unsupported") return std::optional<git::Repo>();
  return std::unexpected(std::move(repo).error());
}

Result<> TakeUp(Session& session) {
  if (!session.locked()) return {};
  bool ended = publish::IsEnded(session.meta.state);
  bool intent = publish::HasIntent(session.dir);
  bool journal = sys::Fstatat(session.dir.fd.get(), "journal").has_value();
  // Finishing may be cut short as well.
  if ((intent || journal) && !session.marker.valid()) {
    session.marker = BAWN_TRY(workspace::Mark(session.state, session.dir.id));
  }
  if (intent) {
    git::Repo repo = BAWN_TRY(publish::OpenRepository(session.meta));
    BAWN_CHECK_OK(publish::RecoverPublish({session.state, session.dir, session.meta, repo}));
  }
  BAWN_CHECK_OK(publish::Recover({session.state, session.dir, session.meta}));
  if (ended || !publish::IsEnded(session.meta.state)) return {};
  return Fail(ErrorCode::kFailedPrecondition,
              "an earlier command on " + session.meta.name +
                  " was cut short; it has been finished now: " + session.meta.state,
              "nothing of this sandbox is pending any more", "act.recovered");
}

}  // namespace bawn::worker
