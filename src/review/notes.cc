#include "review/notes.h"

#include "review/quote.h"

namespace bawn::review {

std::vector<std::string> NotesOf(const Reviewed& reviewed) {
  std::vector<std::string> notes;
  const std::string name = QuoteName("", reviewed.change.path) + ": ";
  const auto say = [&](std::string_view text) { notes.push_back(name + std::string(text)); };
  const bool directory = reviewed.old_git_mode == 0 && reviewed.new_git_mode == 0 &&
                         reviewed.change.problem.empty() && !reviewed.ignored;
  if (directory) {
    say(reviewed.change.new_type == workspace::EntryType::kNone
            ? "directory removed (git stores no directories)"
            : "new empty directory (git stores none)");
  }
  if (!reviewed.refused.empty()) say("cannot be published: " + reviewed.refused);
  if (reviewed.dirty_base) say("contains your uncommitted changes");
  if (reviewed.change.diverged) say("your tree has changed here since the sandbox opened");
  if (!reviewed.note.empty()) say(reviewed.note);
  if (reviewed.ignored) say("ignored by git");
  switch (reviewed.gate.kind) {
    case plan::GateKind::kNone:
      break;
    case plan::GateKind::kRunsByItself:
      say("runs by itself on the host (" + std::string(reviewed.gate.rule_id) +
          "): " + std::string(reviewed.gate.reason));
      break;
    case plan::GateKind::kRunsOnBuild:
      say(reviewed.gate.reason);
      break;
    case plan::GateKind::kNever:
      say("never leaves the sandbox (" + std::string(reviewed.gate.rule_id) +
          "): " + std::string(reviewed.gate.reason));
      break;
  }
  return notes;
}

}  // namespace bawn::review
