#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands.h"

namespace bawn::cli {
namespace {

// "label:        value" lines; nothing for an empty value.
class Lines {
 public:
  void Add(std::string_view label, std::string_view value) {
    if (value.empty()) return;
    std::string head = std::string(label) + ":";
    head.resize(std::max<size_t>(head.size() + 1, 14), ' ');
    text_ += head + OneLine(value) + "\n";
  }
  void Under(std::string_view value) { text_ += std::string(14, ' ') + OneLine(value) + "\n"; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string OutcomeText(const Json& receipt) {
  std::string kind = TextAt(receipt, "outcome.kind");
  if (const Json* code = At(receipt, "outcome.exit_code"); code != nullptr && code->AsInt()) {
    kind += " with code " + std::to_string(*code->AsInt());
  }
  if (const Json* signal = At(receipt, "outcome.signal"); signal != nullptr && signal->AsInt()) {
    kind += " by signal " + std::to_string(*signal->AsInt());
  }
  std::string by = TextAt(receipt, "outcome.killed_by");
  if (!by.empty()) kind += " by its limit: " + by;
  std::string hint = TextAt(receipt, "outcome.hint");
  return hint.empty() ? kind : kind + " (" + hint + ")";
}

std::string ChangesText(const Json& receipt) {
  std::optional<uint64_t> added = NumberAt(receipt, "workspace.added");
  std::optional<uint64_t> modified = NumberAt(receipt, "workspace.modified");
  std::optional<uint64_t> deleted = NumberAt(receipt, "workspace.deleted");
  if (!added || !modified || !deleted) return "not counted";
  std::string text = std::to_string(*added) + " added, " + std::to_string(*modified) +
                     " modified, " + std::to_string(*deleted) + " deleted";
  if (std::optional<uint64_t> bytes = NumberAt(receipt, "workspace.bytes")) {
    text += ", " + FormatBytes(*bytes);
  }
  return text;
}

std::string StreamText(const Json& receipt, const std::string& path) {
  std::optional<uint64_t> total = NumberAt(receipt, path + ".bytes_total");
  if (!total) return {};
  const Json* stream = At(receipt, path);
  return FormatBytes(*total) + (stream->GetBool("truncated") ? ", kept in part" : "");
}

void AddLayers(const Json& receipt, Lines* lines) {
  std::string obtained = TextAt(receipt, "containment.obtained");
  std::string requested = TextAt(receipt, "containment.requested");
  lines->Add("level", obtained + (obtained == requested ? "" : ", requested was " + requested));
  lines->Add("downgraded", TextAt(receipt, "sandbox_downgrade_reason"));
  for (const Json& layer : ArrayAt(receipt, "containment.layers")) {
    std::string by = TextAt(layer, "verified_by");
    lines->Under(TextAt(layer, "name") + " " + TextAt(layer, "state") +
                 (by.empty() ? "" : ", verified by " + by));
  }
}

void AddLimits(const Json& receipt, Lines* lines) {
  const Json* limits = At(receipt, "limits");
  const JsonObject* object = limits == nullptr ? nullptr : limits->AsObject();
  if (object == nullptr || object->size() == 0) return;
  std::string all;
  for (const JsonMember& limit : *object) {
    std::optional<uint64_t> value = NumberAt(limit.value, "value");
    bool bytes = limit.key == "memory" || limit.key == "disk" || limit.key == "output";
    bool time = limit.key == "time" || limit.key == "idle";
    std::string number = value ? std::to_string(*value) + (time ? " ms" : "") : "-";
    if (value && bytes) number = FormatBytes(*value);
    if (value && limit.key == "cpu") number += " thousandths";
    all +=
        (all.empty() ? "" : "; ") + limit.key + " " + number + " " + TextAt(limit.value, "state");
  }
  lines->Add("limits", all);
}

void AddUsage(const Json& receipt, Lines* lines) {
  std::string used;
  if (std::optional<uint64_t> cpu = NumberAt(receipt, "usage.cpu_ms")) {
    used += std::to_string(*cpu) + " ms of processor time";
  }
  if (std::optional<uint64_t> memory = NumberAt(receipt, "usage.memory_peak_bytes")) {
    used += (used.empty() ? "" : ", ") + FormatBytes(*memory) + " of memory at most";
  }
  if (std::optional<uint64_t> pids = NumberAt(receipt, "usage.pids_peak")) {
    used += (used.empty() ? "" : ", ") + Plural(*pids, "pid") + " at most";
  }
  lines->Add("used", used);
}

std::string Joined(const JsonArray& array) {
  std::string out;
  for (const Json& one : array) {
    if (one.AsString() != nullptr) out += (out.empty() ? "" : ", ") + *one.AsString();
  }
  return out;
}

std::string ReceiptText(const Json& receipt) {
  Lines lines;
  lines.Add("command", CommandText(ArrayAt(receipt, "command")));
  lines.Add("outcome", OutcomeText(receipt));
  lines.Add("ran", TextAt(receipt, "started_at") + " to " + TextAt(receipt, "ended_at"));
  AddLayers(receipt, &lines);
  AddLimits(receipt, &lines);
  AddUsage(receipt, &lines);
  lines.Add("changes", ChangesText(receipt));
  lines.Add("workspace", TextAt(receipt, "workspace.path") + " (" +
                             TextAt(receipt, "workspace.mode") + " base, " +
                             TextAt(receipt, "workspace.rung") + ")");
  lines.Add("base commit", TextAt(receipt, "workspace.base_commit"));
  lines.Add("covered", Joined(ArrayAt(receipt, "workspace.covered")));
  lines.Add("wrote to", Joined(ArrayAt(receipt, "direct_writes")));
  lines.Add("stdout", StreamText(receipt, "output.stdout"));
  lines.Add("stderr", StreamText(receipt, "output.stderr"));
  lines.Add("policy", Joined(ArrayAt(receipt, "policy.sources")) + ", digest " +
                          TextAt(receipt, "policy.digest"));
  lines.Add("remaining", Joined(ArrayAt(receipt, "remaining")));
  lines.Add("job", TextAt(receipt, "job_id"));
  return lines.Take();
}

}  // namespace

Result<int> ShowCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn) {
  Json answer = BAWN_TRY(bawn.Show(SelectorOf(invocation)));
  if (invocation.Has(OptionId::kJson)) return OutJson(console, answer);
  Lines head;
  head.Add("sandbox", TextAt(answer, "sandbox.name") + " (" + TextAt(answer, "sandbox.id") + ")");
  head.Add("state", TextAt(answer, "sandbox.state"));
  head.Add("durable", TextAt(answer, "durable"));
  std::string text = head.Take();
  const JsonArray& receipts = ArrayAt(answer, "receipts");
  bool readable = !receipts.empty() && receipts.front().AsObject() != nullptr;
  if (readable) text += ReceiptText(receipts.front());
  if (receipts.size() > 1) text += "\n" + Plural(receipts.size() - 1, "older job") + ": --json\n";
  BAWN_CHECK_OK(console.Out(text));
  if (!readable)
    console.Say("no receipt can be read: no job has ended, or it is older than 7 days");
  return 0;
}

}  // namespace bawn::cli
