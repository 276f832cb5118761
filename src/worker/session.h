// worker/session.h
// One session of bawn-worker: the request, the sandbox it is about, and the question in between.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "git/repo.h"
#include "publish/select.h"
#include "worker/confine.h"
#include "workspace/state.h"

namespace bawn::worker {

// What an op needs of the sandbox's lock. A live sandbox holds it.
enum class Lock : uint8_t {
  kRequired,  // refused while it is live
  kIfFree,    // read as it is while it is live
};

struct Session {
  int socket_fd = -1;
  int text_fd = -1;
  int objects_fd = -1;  // what git inside printed, where the request says so
  Json request;
  workspace::StateDir state;
  workspace::SandboxDir dir;
  workspace::SandboxMeta meta;
  UniqueFd marker;  // an act is under way on `dir` (workspace/marker.h)
  Confined confined;

  bool locked() const { return dir.lock.valid(); }

  // Sends Prepared and waits for Commit. kFailedPrecondition with kind "unanswered" when the other
  // end left: nothing has happened, and nobody is there to be told.
  Result<Json> Ask(const JsonObject& prepared) const;
};

inline constexpr std::string_view kUnanswered = "unanswered";

// Members of a request; a wrong type is kInvalidArgument that names the member.
Result<std::string> TextMember(const Json& request, std::string_view key);
Result<std::string> NameMember(const Json& request, std::string_view key);  // unescaped
Result<bool> FlagMember(const Json& request, std::string_view key);
Result<std::vector<std::string>> NamesMember(const Json& request, std::string_view key);

// The handlers, one file each.
Result<Json> RunChanges(Session& session);
Result<Json> RunDiff(Session& session);
Result<Json> RunPublish(Session& session);
Result<Json> RunApply(Session& session);
Result<Json> RunDiscard(Session& session);

// Holds an act to what was reviewed: checks the words of the request, asks, and adds the yes that
// the answer brings to `yes_paths` (worker/ops.h, "Commit").
Result<> AskConsent(const Session& session, JsonObject prepared,
                    const publish::Selection& selection, const std::string& digest,
                    std::vector<std::string>& yes_paths);

// The sandbox's repository; absent where there is none or its format cannot be read (sha256): then
// the changes are compared with the tree alone.
Result<std::optional<git::Repo>> OpenAnyRepository(const workspace::SandboxMeta& meta);

// Takes up what a kill -9 left of an earlier publish, apply or end. Needs the lock; without it does
// nothing.
Result<> TakeUp(Session& session);

}  // namespace bawn::worker
