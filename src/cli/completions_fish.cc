#include "cli/completions.h"

namespace bawn::cli {
namespace {

// "-w --workspace --keep-for …": options whose value is the next word.
std::string ValueOptions() {
  std::string out;
  for (const OptionRow& row : Options()) {
    if (row.kind == Kind::kFlag) continue;
    if (row.letter != 0) out += std::string(" -") + row.letter;
    out += " --" + std::string(row.name);
  }
  return out;
}

// The flags of `complete` for a value: -r requires one, -x excludes files.
std::string ValueFlags(const OptionRow& row) {
  switch (row.kind) {
    case Kind::kFlag:
      return "";
    case Kind::kPath:
      return " -r -F";
    case Kind::kDirectory:
      return " -x -a '(__fish_complete_directories)'";
    case Kind::kEnvName:
    case Kind::kEnvSet:
      return " -x -a '(set -xn)'";
    case Kind::kSandbox:
      return " -x -a '(__bawn_sandboxes)'";
    default:
      break;
  }
  std::string words = JoinedWords(Words(row.kind));
  return words.empty() ? " -x" : " -x -a '" + words + "'";
}

std::string VerbsOf(const OptionRow& row) {
  std::string out;
  for (const VerbRow& verb : Verbs()) {
    if ((row.verbs & Bit(verb.verb)) != 0) out += " " + std::string(verb.name);
  }
  return out;
}

std::string Operands() {
  std::string out;
  for (const VerbRow& row : Verbs()) {
    std::string words;
    if (row.operand == Operand::kSandbox) words = "(__bawn_sandboxes)";
    if (row.operand == Operand::kShellName) words = JoinedWords(ShellNames());
    if (row.operand == Operand::kCommand || row.operand == Operand::kOptionalCommand) {
      words = "(__bawn_command)";
    }
    if (row.operand == Operand::kTopic) {
      for (const VerbRow& topic : Verbs()) {
        words += (words.empty() ? "" : " ") + std::string(topic.name);
      }
    }
    if (words.empty()) continue;
    out += "complete -c bawn -n '__bawn_verb_is " + std::string(row.name) + "' -a " +
           FishQuoted(words) + "\n";
  }
  return out;
}

constexpr std::string_view kFunctions = R"(
function __bawn_verb_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

# Prints the words of the job's own command, the word being typed last; nothing before it starts.
function __bawn_command_words
    set -l words (commandline -opc) (commandline -ct)
    set -l i 3
    while test $i -le (count $words)
        set -l word $words[$i]
        if test "$word" = --
            set i (math $i + 1)
            break
        else if contains -- "$word" $__bawn_value_options
            set i (math $i + 2)
        else if string match -q -- '-*' "$word"
            set i (math $i + 1)
        else
            break
        end
    end
    if test $i -le (count $words)
        printf '%s\n' $words[$i..-1]
    end
end

function __bawn_command
    complete -C (string join ' ' -- (__bawn_command_words))
end

# True while options of bawn itself may stand here. "bawn run git -" is git's, "bawn run -" is not.
function __bawn_takes
    __bawn_verb_is $argv
    or return 1
    __bawn_verb_is run plan
    or return 0
    test (count (__bawn_command_words)) -le 1
end

complete -c bawn -f
)";

}  // namespace

std::string FishCompletion() {
  std::string out = "# fish completion for bawn, made by `bawn completions fish`\n\n";
  out += "set -g __bawn_value_options" + ValueOptions() + "\n\n";
  out += "function __bawn_sandboxes\n    " + std::string(kListNames) + "\n    echo @last\nend\n";
  out += kFunctions;
  for (const VerbRow& row : Verbs()) {
    out += "complete -c bawn -n 'test (count (commandline -opc)) -eq 1' -a " +
           std::string(row.name) + " -d " + FishQuoted(row.purpose) + "\n";
  }
  out += Operands();
  for (const OptionRow& row : Options()) {
    out += "complete -c bawn -n '__bawn_takes" + VerbsOf(row) + "'";
    if (row.letter != 0) out += std::string(" -s ") + row.letter;
    out += " -l " + std::string(row.name) + ValueFlags(row) + " -d " + FishQuoted(row.help) + "\n";
  }
  return out;
}

}  // namespace bawn::cli
