#include "cli/confirm.h"

#include <fcntl.h>
#include <termios.h>

#include <algorithm>

#include "base/text.h"
#include "cli/answer.h"
#include "sys/files.h"

namespace bawn::cli {
namespace {

constexpr size_t kShownMax = 40;     // lines of one list in the question
constexpr size_t kAnswerMax = 4096;  // a terminal's line

std::string PathLines(const JsonArray& elements) {
  std::string out;
  for (size_t i = 0; i < elements.size() && i < kShownMax; ++i) {
    std::string reason = ReasonOf(elements[i]);
    out += "    " + OneLine(PathOf(elements[i])) +
           (reason.empty() ? "" : "  (" + OneLine(reason) + ")") + "\n";
  }
  if (elements.size() > kShownMax) {
    out += "    and " + std::to_string(elements.size() - kShownMax) + " more: bawn diff --names\n";
  }
  return out;
}

// "added 1, modified 2" of an object of numbers; text as it is.
std::string SummaryText(const Json& summary) {
  if (summary.AsString() != nullptr) return TerminalSafe(*summary.AsString());
  std::string out;
  const JsonObject* object = summary.AsObject();
  if (object == nullptr) return out;
  for (const JsonMember& member : *object) {
    const JsonNumber* number = member.value.AsNumber();
    if (number == nullptr) continue;
    out += (out.empty() ? "" : ", ") + member.key + " " + number->token;
  }
  return out;
}

// The sandboxes that a discard would drop.
std::string DiscardedText(const JsonArray& sandboxes) {
  std::string out;
  for (size_t i = 0; i < sandboxes.size() && i < kShownMax; ++i) {
    out += "    " + OneLine(TextAt(sandboxes[i], "sandbox_name")) + "  " +
           OneLine(TextAt(sandboxes[i], "workspace")) +
           (sandboxes[i].GetBool("kept") ? "  (has changes)" : "") + "\n";
  }
  if (sandboxes.size() > kShownMax) {
    out += "    and " + std::to_string(sandboxes.size() - kShownMax) + " more: bawn list --all\n";
  }
  return out;
}

// Gated paths that the command line has not said yes to.
std::vector<std::string> OpenGates(const Json& prepared, const Invocation& invocation) {
  std::vector<std::string> yes;
  for (const std::string& path : invocation.Texts(OptionId::kYesPath)) {
    yes.push_back(EscapeName(path));
  }
  std::vector<std::string> open;
  for (const Json& gate : ArrayAt(prepared, "gated")) {
    std::string path = PathOf(gate);
    if (std::find(yes.begin(), yes.end(), path) == yes.end()) open.push_back(path);
  }
  return open;
}

}  // namespace

std::string Retyped(const Invocation& invocation, const std::vector<std::string>& extra) {
  std::string out = "bawn " + std::string(Row(invocation.verb).name);
  for (const Given& given : invocation.options) {
    out += " --" + std::string(given.row->name);
    if (given.row->kind != Kind::kFlag) out += " " + ShellWord(given.text);
  }
  for (const std::string& word : extra) out += " " + word;
  for (const std::string& operand : invocation.operands) out += " " + ShellWord(operand);
  return out;
}

namespace {

// What a rule of the gate table says runs by itself; anything else that needs a yes has its own
// reason (a path that only commits made inside change, a link that leads out of the tree).
bool RunsByItself(const Json& gate) {
  std::string rule = TextAt(gate, "rule");
  return rule.empty() || (rule.starts_with("gate.") && !rule.starts_with("gate.symlink"));
}

std::string GatedText(const JsonArray& gated) {
  JsonArray running, other;
  for (const Json& gate : gated) (RunsByItself(gate) ? running : other).push_back(gate);
  std::string out;
  if (!running.empty()) out += "  runs by itself on this machine:\n" + PathLines(running);
  if (!other.empty()) out += "  needs a yes of its own:\n" + PathLines(other);
  return out;
}

// Commits made inside, the newest first; the author is the payload's word.
std::string InsideText(const Json& prepared) {
  uint64_t count = CountAt(prepared, "inside_commits");
  if (count == 0) return {};
  std::string out = "  with " + Plural(count, "commit") + " made inside:\n";
  const JsonArray& commits = ArrayAt(prepared, "inside");
  for (size_t i = 0; i < commits.size() && i < kShownMax; ++i) {
    out += "    " + OneLine(TextAt(commits[i], "commit")).substr(0, 12) + " " +
           OneLine(TextAt(commits[i], "subject")) + "  (" + OneLine(TextAt(commits[i], "author")) +
           ")\n";
  }
  if (count > kShownMax) out += "    and " + std::to_string(count - kShownMax) + " older ones\n";
  return out;
}

}  // namespace

std::string PreparedText(const Json& prepared) {
  std::string out;
  if (const Json* summary = At(prepared, "summary")) {
    std::string text = SummaryText(*summary);
    if (!text.empty()) out += "  " + text + "\n";
  }
  const JsonArray& refused = ArrayAt(prepared, "refused");
  if (!refused.empty()) out += "  left out:\n" + PathLines(refused);
  const JsonArray& gated = ArrayAt(prepared, "gated");
  const JsonArray& merged = ArrayAt(prepared, "merged");
  if (!merged.empty()) out += "  merged with what you changed:\n" + PathLines(merged);
  out += GatedText(gated);
  out += InsideText(prepared);
  const JsonArray& discarded = ArrayAt(prepared, "discarded");
  if (!discarded.empty()) {
    out += "  " + Plural(discarded.size(), "sandbox") + " would be dropped, for good:\n" +
           DiscardedText(discarded);
  }
  return out;
}

bool Confirmer::HasWords() const {
  if (invocation_.verb == Verb::kDiscard) {
    // Where nobody can be asked, the verb with the one sandbox it means is the word; for many it is
    // not.
    bool many = invocation_.Has(OptionId::kAll) || invocation_.Has(OptionId::kOlder);
    return invocation_.Has(OptionId::kYes) || (!console_.MayAsk() && !many);
  }
  return invocation_.Has(OptionId::kReviewed) || invocation_.Has(OptionId::kUnreviewed);
}

Result<> Confirmer::CheckWords() const {
  // Undo puts back what the journal names: there is nothing new to review.
  if (HasWords() || console_.MayAsk() || invocation_.Has(OptionId::kUndo)) return {};
  if (invocation_.verb == Verb::kDiscard) {
    return Fail(ErrorCode::kFailedPrecondition,
                "discard of many sandboxes needs a yes, and there is no terminal to ask on",
                "to drop the changes for good: " + Retyped(invocation_, {"--yes"}), "review.word");
  }
  std::string of = invocation_.operands.empty() ? "" : " " + ShellWord(invocation_.operands[0]);
  return Fail(ErrorCode::kFailedPrecondition,
              std::string(Row(invocation_.verb).name) +
                  " needs a review, and there is no terminal to ask on",
              "review with `bawn diff" + of + "`, then give its digest: " +
                  Retyped(invocation_, {"--reviewed", "\"$(bawn diff --digest" + of + ")\""}) +
                  "\nor without a review: " + Retyped(invocation_, {"--unreviewed"}),
              "review.word");
}

bool Confirmer::Decide(const Json& prepared) {
  std::vector<std::string> gates = OpenGates(prepared, invocation_);
  if (HasWords() && gates.empty()) return true;
  if (invocation_.Has(OptionId::kUndo) && !console_.MayAsk()) return true;
  if (console_.MayAsk()) return Ask(PreparedText(prepared));
  std::vector<std::string> extra;
  std::string all;
  for (const std::string& path : gates) {
    extra.push_back("--yes-path " + ShellWord(UnescapeName(path).value_or(path)));
    all += (all.empty() ? "" : ", ") + path;
  }
  bool running = std::ranges::all_of(ArrayAt(prepared, "gated"), RunsByItself);
  std::string what = running ? "runs by itself on this machine: " : "needs a yes of its own: ";
  return Refuse(what + all, "if you want that: " + Retyped(invocation_, extra),
                running ? "gate.runs_by_itself" : "gate.yes_path");
}

bool Confirmer::Ask(const std::string& text) {
  Result<UniqueFd> tty = sys::Openat2(AT_FDCWD, console_.tty_path, O_RDWR | O_NOCTTY);
  if (!tty) {
    return Refuse("there is no terminal to ask on: " + tty.error().message,
                  "give the words on the command line; `bawn help " +
                      std::string(Row(invocation_.verb).name) + "`",
                  "review.word");
  }
  // What was typed before the question was shown is no answer to it.
  (void)tcflush(tty->get(), TCIFLUSH);
  std::string verb(Row(invocation_.verb).name);
  std::string question = "bawn: " + verb + "\n" + text + verb + "? [y/N] ";
  if (Result<> shown = sys::WriteAll(tty->get(), question); !shown) {
    return Refuse("cannot ask: " + shown.error().message, "", "review.word");
  }
  std::string answer;
  char c = 0;
  while (answer.size() < kAnswerMax) {
    Result<size_t> got = sys::Read(tty->get(), &c, 1);
    if (!got || *got == 0 || c == '\n') break;
    answer += c;
  }
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  return Refuse("not confirmed; nothing was changed", "", "");
}

bool Confirmer::Refuse(std::string message, std::string hint, std::string rule) {
  refusal_ =
      Fail(ErrorCode::kFailedPrecondition, std::move(message), std::move(hint), std::move(rule))
          .error();
  return false;
}

}  // namespace bawn::cli
