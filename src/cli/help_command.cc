// help, version, completions: verbs that ask the service nothing.
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"

namespace bawn::cli {

Result<int> HelpCommand(const Console& console, const Invocation& invocation, service::Bawn&) {
  if (invocation.Has(OptionId::kMan)) {
    BAWN_CHECK_OK(console.Out(ManualPage()));
    return 0;
  }
  if (invocation.Has(OptionId::kJson)) {
    BAWN_CHECK_OK(console.Out(ToJsonText(TableJson(), 2) + "\n"));
    return 0;
  }
  std::string topic = invocation.Operand();
  if (topic.empty()) {
    BAWN_CHECK_OK(console.Out(GeneralHelp()));
    return 0;
  }
  const VerbRow* row = FindVerb(topic);
  if (row == nullptr) {
    std::vector<std::string_view> names;
    for (const VerbRow& verb : Verbs()) names.push_back(verb.name);
    std::string near = Nearest(topic, names);
    return Fail(
        ErrorCode::kInvalidArgument, "no help for '" + EscapeName(topic) + "'",
        near.empty() ? "`bawn help` lists the commands" : "did you mean bawn help " + near + "?");
  }
  BAWN_CHECK_OK(console.Out(VerbHelp(row->verb)));
  return 0;
}

Result<int> VersionCommand(const Console& console, const Invocation&, service::Bawn&) {
  BAWN_CHECK_OK(console.Out("bawn " BAWN_VERSION "\n"));
  return 0;
}

Result<int> CompletionsCommand(const Console& console, const Invocation& invocation,
                               service::Bawn&) {
  BAWN_CHECK_OK(console.Out(CompletionScript(invocation.Operand())));
  return 0;
}

}  // namespace bawn::cli
