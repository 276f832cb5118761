// The rows of the verbs: what `bawn help` teaches.
#include "cli/table.h"

namespace bawn::cli {
namespace {

constexpr std::array<VerbRow, kVerbCount> kVerbs = {{
    {Verb::kRun,
     "run",
     "run a command in a disposable sandbox over this tree",
     Operand::kCommand,
     "The command sees your work tree at its real path, but everything it writes there becomes "
     "changes that wait for you: look at them with `bawn diff`, then `bawn publish`, `bawn apply` "
     "or "
     "`bawn discard` them. There is no network but loopback, your home is private and empty, and "
     "every process ends with the job.\n\n"
     "Each run starts from your tree as it is now; --in continues a sandbox that was kept. The "
     "first word that is no option starts the command: what follows belongs to it. A variable "
     "named "
     "BAWN_SANDBOX is set inside.\n\n"
     "The exit code is the command's own; 124 time limit, 125 Bawn failed or refused, 126 not "
     "executable, 127 not found, 128+N ended by signal N, 137 killed by a limit. A code of Bawn's "
     "own comes with a line on stderr that starts with `bawn:`; the receipt (--receipt, "
     "`bawn show`) and --status-fd say for certain.",
     {{{"bawn run -- make test", "run the tests; what they write waits for review"},
       {"bawn run --ephemeral --timeout 10m -- ./configure",
        "keep nothing, stop after ten minutes"},
       {"bawn run --in brave-otter-k3f -- git log -1", "continue where that sandbox ended"}}}},
    {Verb::kShell,
     "shell",
     "open your shell in a disposable sandbox",
     Operand::kNothing,
     "The same as `bawn run` of your login shell. Leave it with `exit`; its changes then wait for "
     "review.",
     {{{"bawn shell", "look around, try things, nothing reaches your tree"},
       {"bawn shell --ephemeral", "the same, and forget it all at the end"},
       {"bawn shell --in @last", "go back into the newest sandbox of this tree"}}}},
    {Verb::kDiff,
     "diff",
     "show what a sandbox changed",
     Operand::kSandbox,
     "Prints a patch of what git would commit, with renames, modes, links and binary files; ends "
     "with how many ignored files changed, and with the digest that `bawn publish --reviewed` "
     "takes. Names and content are escaped on a terminal. Without SANDBOX: the newest of this work "
     "tree, and the last line says which.\n\n"
     "On a terminal the patch goes through $BAWN_PAGER, $PAGER or less; set BAWN_PAGER=cat for "
     "none. NO_COLOR switches colours off.",
     {{{"bawn diff", "review the newest sandbox of this work tree"},
       {"bawn diff --stat brave-otter-k3f", "one line per file of that one"},
       {"bawn diff --names -z | xargs -0 ls -ld", "byte-exact names for a script"}}}},
    {Verb::kPublish,
     "publish",
     "commit a sandbox's changes to a branch",
     Operand::kSandbox,
     "Writes one commit to the branch bawn/NAME, or --branch, without touching your work tree and "
     "without running any program of the repository. Asks once on a terminal, after showing what "
     "would be committed. Elsewhere it needs --reviewed with the digest of the diff you reviewed, "
     "or --unreviewed.\n\n"
     "Files that run by themselves on your machine (hooks, .envrc, editor tasks, CI definitions) "
     "need a yes of their own: at the prompt, or by --yes-path.",
     {{{"bawn publish -m \"fix: contrast of the sheet view\"", "commit everything, to bawn/NAME"},
       {"bawn publish --branch fix/contrast --path src", "only what changed below src"},
       {"bawn publish -m fix --reviewed \"$(bawn diff --digest)\"",
        "from a script, after a review"}}}},
    {Verb::kApply,
     "apply",
     "write a sandbox's changes into your work tree",
     Operand::kSandbox,
     "Puts the changed files into the tree itself, path by path; a path that you changed meanwhile "
     "is named and left alone. What is replaced is kept for seven days, or until the next apply, "
     "and "
     "--undo puts it back. Asks once on a terminal; elsewhere it needs --reviewed or --unreviewed.",
     {{{"bawn apply", "after showing what and asking once"},
       {"bawn apply --path docs brave-otter-k3f", "only what changed below docs"},
       {"bawn apply --undo", "put back what the last apply replaced"}}}},
    {Verb::kDiscard,
     "discard",
     "drop a sandbox and its changes",
     Operand::kSandbox,
     "Removes the changes, the receipts and the kept output, for good. Asks once on a terminal; "
     "elsewhere --all and --older need --yes. A live sandbox is ended first.",
     {{{"bawn discard", "the only sandbox of this work tree, after asking"},
       {"bawn discard --older 7d", "those that are older than seven days, of all work trees"},
       {"bawn discard --yes brave-otter-k3f", "that one, without a question"}}}},
    {Verb::kList,
     "list",
     "list the sandboxes of this work tree",
     Operand::kNothing,
     "Newest first: name, state, age, number of changed files, size, command and work tree.",
     {{{"bawn list", "those of this work tree"},
       {"bawn list --all", "those of every work tree"},
       {"bawn list --json", "for a script"}}}},
    {Verb::kShow,
     "show",
     "show the receipt of a sandbox's newest job",
     Operand::kSandbox,
     "What ran, how it ended, which containment level was obtained and proven, layer by layer, "
     "which limits held, what was used, what nothing measured and why.",
     {{{"bawn show", "the newest sandbox of this work tree"},
       {"bawn show --json brave-otter-k3f", "the whole receipt"},
       {"bawn show @last", "the newest one, in words"}}}},
    {Verb::kLogs,
     "logs",
     "print the kept output of a sandbox's newest job",
     Operand::kSandbox,
     "Byte-exact, but escaped on a terminal. Kept are the head and the tail, 64 MiB unless "
     "--output "
     "of `bawn run` says more; nothing with --no-log. Where the two streams "
     "were kept apart, standard output comes first, then standard error: the order between them is "
     "not recorded.",
     {{{"bawn logs", "standard output and error of the newest job"},
       {"bawn logs --stderr brave-otter-k3f", "only its standard error"},
       {"bawn logs --stdout > out.bin", "byte for byte into a file"}}}},
    {Verb::kWhy,
     "why",
     "say what was denied, by which rule, and how to change it",
     Operand::kSandbox,
     "Lists the decisions that made the newest job's sandbox: the rule, where it stands, its "
     "reason, "
     "and the way to change it; then the walls, and what proved each.",
     {{{"bawn why", "the newest sandbox of this work tree"},
       {"bawn why brave-otter-k3f", "that one"},
       {"bawn why --json", "for an agent that wants to ask for more"}}}},
    {Verb::kPlan,
     "plan",
     "show what run would do, without doing it",
     Operand::kOptionalCommand,
     "Takes the options of `bawn run` and prints the level, the view, the environment, the limits "
     "and every decision with its rule. Nothing is run and nothing is written.",
     {{{"bawn plan -- make test", "what would this see and be allowed"},
       {"bawn plan --profile browser", "what does that profile change"},
       {"bawn plan --json -- make test", "the same, for a script"}}}},
    {Verb::kDoctor,
     "doctor",
     "say what this machine can enforce, and what is missing",
     Operand::kNothing,
     "Tries every kernel feature now, by using it, and prints the level that is proven, and the "
     "remedy for what is missing. Exits 1 when the default level, isolated, cannot be reached.",
     {{{"bawn doctor", "a table of facts"},
       {"bawn doctor --json", "the status object"},
       {"bawn doctor && bawn run -- make", "only where the walls hold"}}}},
    {Verb::kCompletions,
     "completions",
     "print the completion script of a shell",
     Operand::kShellName,
     "For bash, zsh or fish; made from the same table as this help.",
     {{{"bawn completions bash > ~/.local/share/bash-completion/completions/bawn", "for bash"},
       {"bawn completions zsh > ~/.zfunc/_bawn", "for zsh, with ~/.zfunc in $fpath"},
       {"bawn completions fish > ~/.config/fish/completions/bawn.fish", "for fish"}}}},
    {Verb::kHelp,
     "help",
     "explain a command",
     Operand::kTopic,
     "Without COMMAND: the list of commands.",
     {{{"bawn help run", "everything about run"},
       {"bawn help --man | man -l -", "the whole manual"},
       {"bawn help --json", "the table of commands and options"}}}},
    {Verb::kVersion,
     "version",
     "print the version",
     Operand::kNothing,
     "",
     {{{"bawn version", ""}, {"bawn --version", "the same"}, {"", ""}}}},
}};

constexpr bool RowsStandInOrder() {
  for (size_t i = 0; i < kVerbs.size(); ++i) {
    if (static_cast<size_t>(kVerbs[i].verb) != i) return false;
  }
  return true;
}
static_assert(RowsStandInOrder());

}  // namespace

std::span<const VerbRow> Verbs() { return kVerbs; }

const VerbRow& Row(Verb verb) { return kVerbs[static_cast<size_t>(verb)]; }

const VerbRow* FindVerb(std::string_view name) {
  for (const VerbRow& row : kVerbs) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string_view OperandSynopsis(Operand operand) {
  switch (operand) {
    case Operand::kNothing:
      return "";
    case Operand::kCommand:
      return " [--] COMMAND [ARGUMENT]...";
    case Operand::kOptionalCommand:
      return " [[--] COMMAND [ARGUMENT]...]";
    case Operand::kSandbox:
      return " [SANDBOX]";
    case Operand::kShellName:
      return " bash|zsh|fish";
    case Operand::kTopic:
      return " [COMMAND]";
  }
  return "";
}

}  // namespace bawn::cli
