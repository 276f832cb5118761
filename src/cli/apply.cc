#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/confirm.h"

namespace bawn::cli {
namespace {

// A count, given as a number or as a list of paths.
uint64_t CountAt(const Json& json, std::string_view member) {
  return NumberAt(json, member).value_or(ArrayAt(json, member).size());
}

void SayApplied(const Console& console, const Json& done, bool undo) {
  SayRecovered(console, done);
  std::string line = undo ? "put back " : "wrote ";
  line += Plural(CountAt(done, undo ? "restored" : "written"), "path");
  if (uint64_t removed = CountAt(done, "removed"); removed > 0) {
    line += ", removed " + std::to_string(removed);
  }
  console.Say(line);
  for (const char* member : {"kept", "refused"}) {
    for (const Json& one : ArrayAt(done, member)) {
      std::string path = one.AsString() != nullptr ? *one.AsString() : TextAt(one, "path");
      std::string reason = TextAt(one, "reason");
      console.Say("left alone: " + OneLine(path) + (reason.empty() ? "" : " (" + reason + ")"));
    }
  }
  if (!undo) console.Say("to put back what was there: bawn apply --undo");
}

}  // namespace

Result<int> ApplyCommand(const Console& console, const Invocation& invocation,
                         service::Bawn& bawn) {
  Confirmer confirmer(console, invocation);
  BAWN_CHECK_OK(confirmer.CheckWords());
  service::ApplyOptions options;
  options.sandbox = SelectorOf(invocation);
  options.reviewed = invocation.Text(OptionId::kReviewed);
  options.unreviewed = invocation.Has(OptionId::kUnreviewed);
  options.undo = invocation.Has(OptionId::kUndo);
  options.paths = invocation.Texts(OptionId::kPath);
  options.yes_paths = invocation.Texts(OptionId::kYesPath);
  Result<Json> done = bawn.Apply(options, [&](const Json& json) { return confirmer.Decide(json); });
  if (confirmer.refusal()) return std::unexpected(*confirmer.refusal());
  if (!done) return std::unexpected(std::move(done).error());
  if (invocation.Has(OptionId::kJson)) return OutJson(console, *done);
  SayApplied(console, *done, options.undo);
  return 0;
}

}  // namespace bawn::cli
