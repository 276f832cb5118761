#include "cli/completions.h"

namespace bawn::cli {
namespace {

// Help inside a spec of _arguments: its brackets and colons are syntax (zshcompsys(1)).
std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string Action(Kind kind) {
  switch (kind) {
    case Kind::kPath:
      return "_files";
    case Kind::kDirectory:
      return "_directories";
    case Kind::kEnvName:
    case Kind::kEnvSet:
      return "_parameters -g \"*export*\"";
    case Kind::kSandbox:
      return "_bawn_sandboxes";
    default:
      break;
  }
  std::string words = JoinedWords(Words(kind));
  return words.empty() ? " " : "(" + words + ")";
}

std::string OptionSpec(const OptionRow& row) {
  std::string tail = "[" + Escaped(row.help) + "]";
  if (row.kind != Kind::kFlag) tail += ":" + Escaped(row.argument) + ":" + Action(row.kind);
  std::string name(row.name);
  std::string out = "      ";
  if (row.letter == 0) return out + ShellQuoted((row.repeatable ? "*--" : "--") + name + tail);
  std::string letter(1, row.letter);
  return out + "'(-" + letter + " --" + name + ")'{-" + letter + ",--" + name + "}" +
         ShellQuoted(tail);
}

std::string OperandSpec(Operand operand) {
  switch (operand) {
    case Operand::kNothing:
      return "";
    case Operand::kCommand:
    case Operand::kOptionalCommand:
      return " \\\n      '(-)1:command: _command_names -e' \\\n      '*::arguments:_normal'";
    case Operand::kSandbox:
      return " \\\n      '1:sandbox:_bawn_sandboxes'";
    case Operand::kShellName:
      return " \\\n      '1:shell:(" + JoinedWords(ShellNames()) + ")'";
    case Operand::kTopic:
      return " \\\n      '1:command:_bawn_commands'";
  }
  return "";
}

}  // namespace

std::string ZshCompletion() {
  std::string out =
      "#compdef bawn\n# zsh completion for bawn, made by `bawn completions zsh`\n\n"
      "_bawn_sandboxes() {\n  local -a names\n  names=(${(f)\"$(" +
      std::string(kListNames) +
      ")\"} @last)\n  _describe -t sandboxes sandbox names\n}\n\n"
      "_bawn_commands() {\n  local -a commands\n  commands=(\n";
  for (const VerbRow& row : Verbs()) {
    out += "    " + ShellQuoted(std::string(row.name) + ":" + Escaped(row.purpose)) + "\n";
  }
  out +=
      "  )\n  _describe -t commands 'bawn command' commands\n}\n\n"
      "_bawn() {\n  if ((CURRENT == 2)); then\n    _bawn_commands\n    return\n  fi\n"
      "  local verb=$words[2]\n  shift words\n  ((CURRENT--))\n  case $verb in\n";
  for (const VerbRow& row : Verbs()) {
    out += "    " + std::string(row.name) + ")\n      _arguments -s -S -A '-*'";
    for (const OptionRow& option : Options()) {
      if ((option.verbs & Bit(row.verb)) != 0) out += " \\\n" + OptionSpec(option);
    }
    out += OperandSpec(row.operand) + "\n      ;;\n";
  }
  return out + "  esac\n}\n\n_bawn \"$@\"\n";
}

}  // namespace bawn::cli
