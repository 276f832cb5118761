// bawn(1) in the man(7) macros, from the table.
#include "cli/help.h"

namespace bawn::cli {
namespace {

// roff's own characters made plain: backslashes, minus signs, and a dot or quote that starts a
// line.
std::string Roff(std::string_view text) {
  std::string out;
  if (text.starts_with(".") || text.starts_with("'")) out += "\\&";
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '"') {
      out += "\\(dq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = text.find("\n\n");
    out += ".PP\n" + Roff(text.substr(0, end)) + "\n";
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
  return out;
}

std::string OptionEntry(const OptionRow& row) {
  std::string head = "\\fB\\-\\-" + Roff(row.name) + "\\fR";
  if (row.letter != 0) head = std::string("\\fB\\-") + row.letter + "\\fR, " + head;
  if (!row.argument.empty()) head += " \\fI" + Roff(row.argument) + "\\fR";
  std::string text = std::string(row.help) + (row.repeatable ? "; may be repeated" : "") + ".";
  return ".TP\n" + head + "\n" + Roff(text) + "\n";
}

std::string VerbSection(const VerbRow& row) {
  std::string out = ".SS " + Roff(Synopsis(row)) + "\n";
  out += ".PP\n" + Roff(row.purpose) + ".\n" + Paragraphs(row.details);
  for (const OptionRow& option : Options()) {
    if ((option.verbs & Bit(row.verb)) != 0) out += OptionEntry(option);
  }
  out += ".PP\nExamples:\n";
  for (const Example& example : row.examples) {
    if (example.line.empty()) continue;
    out += ".PP\n.RS 4\n.nf\n" + Roff(example.line) + "\n.fi\n.RE\n";
    if (!example.says.empty()) out += ".RS 8\n" + Roff(example.says) + "\n.RE\n";
  }
  return out;
}

struct Named {
  std::string_view name, text;
};
constexpr Named kVariables[] = {
    {"BAWN_LEVEL", "a floor for the containment level; a weaker one is refused"},
    {"BAWN_PROFILE", "the profile to use without --profile"},
    {"BAWN_STATE_DIR",
     "where sandboxes are kept; default: $XDG_STATE_HOME/bawn, and /var/lib/bawn "
     "for root"},
    {"BAWN_PAGER, PAGER", "the pager of bawn diff on a terminal; cat for none"},
    {"NO_COLOR", "when not empty, no colours"},
    {"BAWN_SANDBOX",
     "set inside a sandbox to its id; there no command but --version and --help "
     "works"},
};
constexpr Named kExitCodes[] = {
    {"0", "done"},
    {"1", "refused, or done only in part; for doctor and diff --exit-code: no"},
    {"2", "wrong usage"},
    {"125", "Bawn failed"},
};

template <size_t N>
std::string Entries(const Named (&entries)[N]) {
  std::string out;
  for (const Named& entry : entries) {
    out += ".TP\n\\fB" + Roff(entry.name) + "\\fR\n" + Roff(entry.text) + ".\n";
  }
  return out;
}

}  // namespace

std::string ManualPage() {
  std::string out = ".TH BAWN 1 \"\" \"bawn " BAWN_VERSION "\" \"User Commands\"\n.SH NAME\n";
  out +=
      "bawn \\- run a command in a disposable sandbox and review what it changed\n.SH SYNOPSIS\n";
  for (const VerbRow& row : Verbs()) out += ".nf\n" + Roff(Synopsis(row)) + "\n.fi\n";
  out += ".SH DESCRIPTION\n" +
         Paragraphs(
             "Bawn runs what an AI agent wants to run in a disposable enclosure made of user "
             "namespaces, an overlay, Landlock and seccomp, and lets out only what is "
             "published or applied. It needs no root, no daemon and no image.");
  out += ".SH COMMANDS\n";
  for (const VerbRow& row : Verbs()) out += VerbSection(row);
  out += ".SH EXIT STATUS\n.PP\nOf bawn run and bawn shell: see there. Of all others:\n" +
         Entries(kExitCodes);
  out += ".SH ENVIRONMENT\n" + Entries(kVariables);
  out += ".SH SEE ALSO\n.PP\nuser_namespaces(7), landlock(7), seccomp(2), git(1)\n";
  return out;
}

}  // namespace bawn::cli
