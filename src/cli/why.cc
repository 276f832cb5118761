#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands.h"

namespace bawn::cli {
namespace {

std::string Rule(const Json& decision) {
  std::string rule = TextAt(decision, "rule");
  std::string file = TextAt(decision, "file");
  uint64_t line = NumberAt(decision, "line").value_or(0);
  return "rule " + rule + " (" + file + (line == 0 ? "" : ":" + std::to_string(line)) + ")";
}

// Denials first and in full, since they are the question; allows in one line each.
std::string DecisionsText(const JsonArray& decisions) {
  std::string denied, allowed;
  for (const Json& decision : decisions) {
    std::string subject = TextAt(decision, "subject");
    if (TextAt(decision, "verdict") == "allow") {
      allowed += "  " + subject + "  " + Rule(decision) + "\n";
      continue;
    }
    denied += "  " + subject + "\n    " + TextAt(decision, "reason") + "; " + Rule(decision) + "\n";
    std::string remedy = TextAt(decision, "remedy");
    denied += "    to change it: " + (remedy.empty() ? std::string("nothing may") : remedy) + "\n";
  }
  std::string out;
  out += denied.empty() ? "nothing was denied by a rule\n" : "denied:\n" + denied;
  if (!allowed.empty()) out += "allowed:\n" + allowed;
  return out;
}

std::string LayersText(const Json& answer) {
  Table table({"WALL", "STATE", "VERIFIED BY"});
  for (const Json& layer : ArrayAt(answer, "containment.layers")) {
    table.Add({TextAt(layer, "name"), TextAt(layer, "state"), TextAt(layer, "verified_by")});
  }
  return "level " + TextAt(answer, "containment.obtained") + "\n" + table.Text();
}

}  // namespace

Result<int> WhyCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn) {
  Json answer = BAWN_TRY(bawn.Why(SelectorOf(invocation)));
  if (invocation.Has(OptionId::kJson)) return OutJson(console, answer);
  std::string text =
      "sandbox " + TextAt(answer, "sandbox_name") + " (" + TextAt(answer, "sandbox_id") + ")\n\n";
  text += DecisionsText(ArrayAt(answer, "decisions"));
  std::string hint = TextAt(answer, "outcome.hint");
  if (!hint.empty()) text += "\nhow it ended: " + hint + "\n";
  if (At(answer, "containment") != nullptr) text += "\n" + LayersText(answer);
  if (TextAt(answer, "containment.obtained") != "none") {
    text += "\nthe network is off: connections reach nothing outside the sandbox\n";
  }
  BAWN_CHECK_OK(console.Out(TerminalSafe(text)));
  return 0;
}

}  // namespace bawn::cli
