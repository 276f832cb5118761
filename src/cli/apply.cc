#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/confirm.h"

namespace bawn::cli {
namespace {

void SayApplied(const Console& console, const Json& done, bool undo) {
  SayRecovered(console, done);
  std::string line = undo ? "put back: " : "";
  line += "wrote " + Plural(CountAt(done, "written"), "path");
  if (uint64_t deleted = CountAt(done, "deleted"); deleted > 0) {
    line += ", removed " + std::to_string(deleted);
  }
  console.Say(line);
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
  options.merge = invocation.Has(OptionId::kMerge);
  options.undo = invocation.Has(OptionId::kUndo);
  options.paths = invocation.Texts(OptionId::kPath);
  options.yes_paths = invocation.Texts(OptionId::kYesPath);
  Result<Json> done = bawn.Apply(options, [&](const Json& json) { return confirmer.Decide(json); });
  if (confirmer.refusal()) return std::unexpected(*confirmer.refusal());
  if (!done) return std::unexpected(std::move(done).error());
  if (invocation.Has(OptionId::kJson)) {
    BAWN_CHECK_OK(OutJson(console, *done));
  } else {
    SayApplied(console, *done, options.undo);
  }
  return SayLeft(console, *done) ? 1 : 0;
}

}  // namespace bawn::cli
