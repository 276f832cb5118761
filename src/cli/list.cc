#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands.h"

namespace bawn::cli {
namespace {

constexpr size_t kCommandMax = 48;

std::string Shortened(std::string text) {
  if (text.size() <= kCommandMax) return text;
  text.resize(kCommandMax);
  while (!text.empty() && !IsValidUtf8(text)) text.pop_back();
  return text + "…";
}

std::string Changes(const Json& sandbox) {
  std::optional<uint64_t> added = NumberAt(sandbox, "workspace.added");
  std::optional<uint64_t> modified = NumberAt(sandbox, "workspace.modified");
  std::optional<uint64_t> deleted = NumberAt(sandbox, "workspace.deleted");
  return added && modified && deleted ? std::to_string(*added + *modified + *deleted) : "-";
}

std::string Bytes(const Json& sandbox) {
  std::optional<uint64_t> bytes = NumberAt(sandbox, "workspace.bytes");
  return bytes ? FormatBytes(*bytes) : "-";
}

std::vector<std::string> Row(const Json& sandbox) {
  std::string damaged = TextAt(sandbox, "damaged");
  if (!damaged.empty()) {
    return {TextAt(sandbox, "sandbox_id"), "damaged", "-", "-", "-", damaged, "-"};
  }
  // Where a receipt was read, "workspace" is its report; before one, the path alone.
  std::string workspace = TextAt(sandbox, "workspace.path");
  if (workspace.empty()) workspace = TextAt(sandbox, "workspace");
  std::optional<uint64_t> age = NumberAt(sandbox, "age_seconds");
  return {TextAt(sandbox, "name"),
          TextAt(sandbox, "state"),
          age ? AgeText(*age) : "-",
          Changes(sandbox),
          Bytes(sandbox),
          Shortened(CommandText(ArrayAt(sandbox, "command"))),
          workspace};
}

}  // namespace

Result<int> ListCommand(const Console& console, const Invocation& invocation, service::Bawn& bawn) {
  bool everywhere = invocation.Has(OptionId::kAll);
  Json answer = BAWN_TRY(bawn.List(invocation.Text(OptionId::kWorkspace), everywhere));
  if (invocation.Has(OptionId::kJson)) return OutJson(console, answer);
  SayRecovered(console, answer);
  const JsonArray& sandboxes = ArrayAt(answer, "sandboxes");
  if (sandboxes.empty()) {
    console.Say(everywhere ? "no sandboxes"
                           : "no sandboxes of this work tree; all: bawn list --all");
    return 0;
  }
  Table table({"NAME", "STATE", "AGE", "CHANGES", "SIZE", "COMMAND", "WORKSPACE"});
  for (const Json& sandbox : sandboxes) table.Add(Row(sandbox));
  BAWN_CHECK_OK(console.Out(table.Text()));
  return 0;
}

}  // namespace bawn::cli
