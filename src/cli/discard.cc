#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/confirm.h"

namespace bawn::cli {

Result<int> DiscardCommand(const Console& console, const Invocation& invocation,
                           service::Bawn& bawn) {
  Confirmer confirmer(console, invocation);
  BAWN_CHECK_OK(confirmer.CheckWords());
  service::DiscardOptions options;
  options.sandbox = SelectorOf(invocation);
  options.all = invocation.Has(OptionId::kAll);
  options.older_ms = invocation.Number(OptionId::kOlder);
  Result<Json> done =
      bawn.Discard(options, [&](const Json& json) { return confirmer.Decide(json); });
  if (confirmer.refusal()) return std::unexpected(*confirmer.refusal());
  if (!done) return std::unexpected(std::move(done).error());
  if (invocation.Has(OptionId::kJson)) return OutJson(console, *done);
  SayRecovered(console, *done);
  const JsonArray& discarded = ArrayAt(*done, "discarded");
  if (discarded.empty()) console.Say("nothing to discard");
  for (const Json& one : discarded) console.Say("discarded " + TextAt(one, "sandbox_name"));
  return 0;
}

}  // namespace bawn::cli
