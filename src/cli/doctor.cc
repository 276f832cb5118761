#include "cli/answer.h"
#include "cli/commands.h"

namespace bawn::cli {
namespace {

// The table of facts, then each remedy in full: they are too long for a column.
std::string DoctorText(const Json& status, plan::Level proven) {
  std::string out;
  bool available = status.GetBool("available") && proven >= plan::Level::kIsolated;
  out += available ? "ready: level " + std::string(plan::LevelName(proven)) + " is proven\n\n"
                   : "not ready: the default level, isolated, cannot be reached; proven is " +
                         std::string(plan::LevelName(proven)) + "\n\n";
  Table table({"FACT", "STATE", "DETAIL"});
  std::string remedies;
  for (const Json& fact : ArrayAt(status, "layers")) {
    table.Add({TextAt(fact, "name"), TextAt(fact, "state"), TextAt(fact, "detail")});
    std::string remedy = TextAt(fact, "remedy");
    if (!remedy.empty()) remedies += "  " + TextAt(fact, "name") + ": " + remedy + "\n";
  }
  out += table.Text();
  if (!remedies.empty()) out += "\nto do:\n" + remedies;
  std::string remedy = TextAt(status, "remedy");
  if (!remedy.empty() && remedies.find(remedy) == std::string::npos) out += "\n" + remedy + "\n";
  return out;
}

}  // namespace

Result<int> DoctorCommand(const Console& console, const Invocation& invocation,
                          service::Bawn& bawn) {
  Json status = BAWN_TRY(bawn.Doctor());
  plan::Level proven =
      plan::ParseLevel(TextAt(status, "level_proven")).value_or(plan::Level::kNone);
  bool ready = status.GetBool("available") && proven >= plan::Level::kIsolated;
  if (invocation.Has(OptionId::kJson)) {
    BAWN_CHECK_OK(OutJson(console, status));
  } else {
    BAWN_CHECK_OK(console.Out(DoctorText(status, proven)));
  }
  return ready ? 0 : 1;
}

}  // namespace bawn::cli
