// The one place that knows the receipt's JSON (DESIGN 8, "Receipt").
#include <array>

#include "base/clock.h"
#include "base/text.h"
#include "record/receipts.h"

namespace bawn::record {
namespace {

using plan::Receipt;

constexpr std::string_view kNotMeasured = "the engine did not report it";
constexpr std::string_view kNoArtifacts = "output is kept beside the receipt, not as an artifact";
constexpr std::string_view kNoDevices = "only a paired device has an id";
constexpr std::string_view kNoContext = "a command of this machine's user states no context";
constexpr std::string_view kNoHash = "no output was kept, or hashing was left out";
constexpr std::string_view kNetworkOff =
    "the kernel refuses without counting when the network is off";
constexpr std::string_view kNetworkOpen = "level none leaves the host's network open and uncounted";
constexpr std::string_view kNoReview = "the changes were not read";

// Collects a reason for each null that a measurement would have filled. Reasons of the caller win.
class Reasons {
 public:
  explicit Reasons(const Receipt& receipt) {
    for (const auto& [path, reason] : receipt.unmeasured) object_[path] = TerminalSafe(reason);
  }
  Json Null(std::string_view path, std::string_view reason) {
    if (object_.Find(path) == nullptr) object_[path] = reason;
    return nullptr;
  }
  Json Number(const std::optional<uint64_t>& value, std::string_view path,
              std::string_view reason) {
    return value ? Json(*value) : Null(path, reason);
  }
  JsonObject Take() { return std::move(object_); }

 private:
  JsonObject object_;
};

Json Names(const std::vector<std::string>& names) {
  JsonArray array;
  for (const std::string& name : names) array.emplace_back(EscapeName(name));
  return array;
}

Json ProseOrNull(std::string_view text) { return text.empty() ? Json() : Json(TerminalSafe(text)); }

Json Context(Reasons* reasons) {
  constexpr std::array<std::string_view, 6> kMembers = {"tenant",  "actor",   "sender",
                                                        "channel", "turn_id", "run_id"};
  JsonObject context;
  for (std::string_view member : kMembers) context[member] = nullptr;
  reasons->Null("context", kNoContext);
  return context;
}

Json OutcomeJson(const plan::Outcome& outcome) {
  JsonObject json;
  json["kind"] = plan::OutcomeKindName(outcome.kind);
  bool exited = outcome.kind == plan::OutcomeKind::kExited;
  bool signaled = outcome.kind == plan::OutcomeKind::kSignaled;
  json["exit_code"] = exited ? Json(outcome.exit_code) : Json();
  json["signal"] = signaled ? Json(outcome.signal) : Json();
  std::string_view by = plan::KilledByName(outcome.killed_by);
  json["killed_by"] = by.empty() ? Json() : Json(by);
  json["hint"] = ProseOrNull(outcome.hint);
  json["caused_by_job"] = ProseOrNull(outcome.caused_by_job);
  return json;
}

Json Containment(const Receipt& receipt) {
  JsonArray layers;
  for (const plan::LayerReport& layer : receipt.layers) {
    JsonObject json;
    json["name"] = layer.name;
    json["state"] = layer.state;
    json["verified_by"] = ProseOrNull(layer.verified_by);
    layers.emplace_back(std::move(json));
  }
  JsonObject json;
  json["requested"] = plan::LevelName(receipt.requested);
  json["obtained"] = plan::LevelName(receipt.obtained);
  json["engine"] = receipt.engine;
  json["layers"] = std::move(layers);
  return json;
}

Json Limits(const Receipt& receipt) {
  JsonObject json;
  for (const plan::LimitReport& limit : receipt.limits) {
    JsonObject row;
    row["value"] = limit.value;
    row["state"] = limit.state;
    json[limit.name] = std::move(row);
  }
  return json;
}

Json Usage(const Receipt& receipt, Reasons* reasons) {
  JsonObject json;
  json["cpu_ms"] = reasons->Number(receipt.cpu_ms, "usage.cpu_ms", kNotMeasured);
  json["memory_peak_bytes"] =
      reasons->Number(receipt.memory_peak_bytes, "usage.memory_peak_bytes", kNotMeasured);
  json["pids_peak"] = reasons->Number(receipt.pids_peak, "usage.pids_peak", kNotMeasured);
  return json;
}

Json Workspace(const plan::WorkspaceReport& workspace, Reasons* reasons) {
  JsonObject json;
  json["mode"] = ProseOrNull(workspace.mode);
  json["rung"] = ProseOrNull(workspace.rung);
  json["path"] = workspace.path.empty() ? Json() : Json(EscapeName(workspace.path));
  json["base_commit"] = ProseOrNull(workspace.base_commit);
  json["added"] = reasons->Number(workspace.added, "workspace.added", kNoReview);
  json["modified"] = reasons->Number(workspace.modified, "workspace.modified", kNoReview);
  json["deleted"] = reasons->Number(workspace.deleted, "workspace.deleted", kNoReview);
  json["bytes"] = reasons->Number(workspace.bytes, "workspace.bytes", kNoReview);
  json["durable"] = ProseOrNull(workspace.durable);
  json["covered"] = Names(workspace.covered);
  return json;
}

Json Egress(const Receipt& receipt, Reasons* reasons) {
  // A job that never started reached nothing, whatever its level.
  bool ran = receipt.outcome.kind != plan::OutcomeKind::kSetupFailed;
  bool open = ran && receipt.obtained == plan::Level::kNone;
  JsonObject json;
  json["allowed"] = open ? reasons->Null("egress.allowed", kNetworkOpen) : Json(0);
  json["denied"] = reasons->Null("egress.denied", open ? kNetworkOpen : kNetworkOff);
  json["decisions"] = JsonArray();
  return json;
}

Json Stream(const plan::StreamReport& stream, const std::string& path, Reasons* reasons) {
  JsonObject json;
  json["bytes_total"] = stream.bytes_total;
  json["sha256"] = stream.sha256 ? Json(*stream.sha256) : reasons->Null(path + ".sha256", kNoHash);
  json["truncated"] = stream.truncated;
  json["artifact_id"] = reasons->Null(path + ".artifact_id", kNoArtifacts);
  return json;
}

Json Output(const Receipt& receipt, Reasons* reasons) {
  JsonObject json;
  json["stdout"] = Stream(receipt.out, "output.stdout", reasons);
  json["stderr"] = Stream(receipt.err, "output.stderr", reasons);
  return json;
}

Json PolicyJson(const Receipt& receipt) {
  JsonObject json;
  json["digest"] = ProseOrNull(receipt.policy_digest);
  json["sources"] = Names(receipt.policy_sources);
  return json;
}

Json Deployment() {
  JsonObject json;
  json["mode"] = "local";
  json["accepted"] = JsonArray();
  return json;
}

}  // namespace

Json ToJson(const Receipt& receipt) {
  Reasons reasons(receipt);
  JsonObject json;
  json["receipt_version"] = 1;
  json["platform"] = "linux";
  json["placement"] = "local";
  json["device_id"] = reasons.Null("device_id", kNoDevices);
  json["deployment"] = Deployment();
  json["sandbox_id"] = receipt.sandbox_id;
  json["job_id"] = receipt.job_id;
  json["context"] = Context(&reasons);
  json["command"] = Names(receipt.command);
  json["started_at"] = FormatTime(receipt.started_at_ns);
  json["ended_at"] = FormatTime(receipt.ended_at_ns);
  json["sandbox"] = plan::LevelName(receipt.obtained);
  json["sandbox_downgrade_reason"] = ProseOrNull(receipt.downgrade_reason);
  json["outcome"] = OutcomeJson(receipt.outcome);
  json["containment"] = Containment(receipt);
  json["limits"] = Limits(receipt);
  json["usage"] = Usage(receipt, &reasons);
  json["workspace"] = Workspace(receipt.workspace, &reasons);
  json["direct_writes"] = Names(receipt.direct_writes);
  json["egress"] = Egress(receipt, &reasons);
  json["output"] = Output(receipt, &reasons);
  json["policy"] = PolicyJson(receipt);
  json["remaining"] = Names(receipt.remaining);
  json["unmeasured"] = reasons.Take();
  return json;
}

}  // namespace bawn::record
