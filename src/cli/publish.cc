#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/confirm.h"

namespace bawn::cli {
namespace {

void SayPublished(const Console& console, const Json& done) {
  SayRecovered(console, done);
  std::string branch = TextAt(done, "branch");
  std::string line = "published " + TextAt(done, "commit").substr(0, 12) + " to " + branch;
  std::string from = TextAt(done, "sandbox_name");
  if (uint64_t inside = CountAt(done, "inside_commits"); inside > 0) {
    line += ", with " + Plural(inside, "commit") + " made inside,";
  }
  console.Say(line + (from.empty() ? "" : " from " + from));
  for (const Json& warning : ArrayAt(done, "warnings")) {
    if (warning.AsString() != nullptr) console.Say(*warning.AsString());
  }
  std::string deploy = TextAt(done, "deploy");
  if (deploy.empty()) return;
  console.Say(done.GetBool("tree_changed")
                  ? "the work tree was moved with it; to take it further: " + deploy
                  : "no work tree was changed; to take it over: " + deploy);
}

}  // namespace

Result<int> PublishCommand(const Console& console, const Invocation& invocation,
                           service::Bawn& bawn) {
  Confirmer confirmer(console, invocation);
  BAWN_CHECK_OK(confirmer.CheckWords());
  service::PublishOptions options;
  options.sandbox = SelectorOf(invocation);
  options.branch = invocation.Text(OptionId::kBranch);
  options.message = invocation.Text(OptionId::kMessage);
  options.reviewed = invocation.Text(OptionId::kReviewed);
  options.unreviewed = invocation.Has(OptionId::kUnreviewed);
  options.lfs = invocation.Has(OptionId::kLfs);
  options.merge = invocation.Has(OptionId::kMerge);
  options.squash = invocation.Has(OptionId::kSquash);
  options.include_dirty = invocation.Has(OptionId::kIncludeDirty);
  options.update_tree = invocation.Has(OptionId::kUpdateTree);
  options.paths = invocation.Texts(OptionId::kPath);
  options.yes_paths = invocation.Texts(OptionId::kYesPath);
  Result<Json> done =
      bawn.Publish(options, [&](const Json& json) { return confirmer.Decide(json); });
  if (confirmer.refusal()) return std::unexpected(*confirmer.refusal());
  if (!done) return std::unexpected(std::move(done).error());
  if (invocation.Has(OptionId::kJson)) {
    BAWN_CHECK_OK(OutJson(console, *done));
  } else {
    SayPublished(console, *done);
  }
  return SayLeft(console, *done) ? 1 : 0;
}

}  // namespace bawn::cli
