// `bawn doctor`: the status object of DESIGN 8, probed at the call, never cached.
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "contain/probe.h"
#include "service/context.h"
#include "service/local.h"
#include "service/root_mode.h"
#include "sys/processes.h"

namespace bawn::service {
namespace {

Json Facts(const contain::ProbeReport& report) {
  JsonArray layers;
  for (const contain::ProbeFact& fact : report.facts) {
    JsonObject one;
    one["name"] = fact.name;
    one["state"] = fact.state;
    one["detail"] = TerminalSafe(fact.detail);
    one["remedy"] = fact.remedy.empty() ? Json() : Json(fact.remedy);
    layers.emplace_back(std::move(one));
  }
  return Json(std::move(layers));
}

}  // namespace

Result<Json> LocalBawn::Doctor() {
  Caller caller = BAWN_TRY(IdentifyCaller(environment_));
  workspace::StateDir state = BAWN_TRY(OpenState(caller));
  contain::ProbeOptions options;
  options.state_dir = state.path;
  options.subids = SubIdFilesOf(caller);
  contain::ProbeReport report = BAWN_TRY(contain::ProbeMachine(options));
  JsonArray missing;
  std::string remedy;
  for (const contain::ProbeFact& fact : report.facts) {
    if (fact.state == "ok") continue;
    missing.emplace_back(fact.name);
    if (remedy.empty()) remedy = fact.remedy;
  }
  for (const char* program : {"bawn-init", "bawn-worker", "bawn-policy", "bawn-keeper"}) {
    Result<UniqueFd> found = sys::OpenSibling(program);
    if (found) continue;
    missing.emplace_back(program);
    remedy = found.error().hint;
    report.highest = plan::Level::kNone;
  }
  Result<std::string> self = sys::SelfPath();
  JsonObject answer;
  bool available = report.highest >= plan::Level::kIsolated;
  answer["available"] = available;
  answer["mechanism"] = "native";
  answer["helper_path"] = self ? Json(EscapeName(*self)) : Json();
  answer["disabled"] = false;
  answer["disabled_by"] = Json();
  answer["active"] = false;
  answer["level_proven"] = plan::LevelName(report.highest);
  answer["layers"] = Facts(report);
  answer["missing"] = std::move(missing);
  answer["remedy"] = available || remedy.empty() ? Json() : Json(remedy);
  answer["probed_at"] = FormatTime(RealtimeNs());
  return Json(std::move(answer));
}

}  // namespace bawn::service
