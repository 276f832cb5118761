#include "cli/completions.h"

namespace bawn::cli {
namespace {

std::string VerbNames() {
  std::string out;
  for (const VerbRow& row : Verbs()) out += (out.empty() ? "" : " ") + std::string(row.name);
  return out;
}

// "-w --workspace --ephemeral …" of one verb.
std::string OptionWords(Verb verb) {
  std::string out;
  for (const OptionRow& row : Options()) {
    if ((row.verbs & Bit(verb)) == 0) continue;
    if (row.letter != 0) out += std::string("-") + row.letter + " ";
    out += "--" + std::string(row.name) + " ";
  }
  out.pop_back();
  return out;
}

std::string Pattern(const OptionRow& row) {
  std::string out = "--" + std::string(row.name);
  return row.letter == 0 ? out : std::string("-") + row.letter + "|" + out;
}

// What completes the value of an option, as the arguments of compgen; empty: nothing does.
std::string Compgen(Kind kind) {
  switch (kind) {
    case Kind::kPath:
      return "-f";
    case Kind::kDirectory:
      return "-d";
    case Kind::kEnvName:
    case Kind::kEnvSet:
      return "-e";
    case Kind::kSandbox:
      return "-W \"$(_bawn_sandboxes)\"";
    default:
      break;
  }
  std::string words = JoinedWords(Words(kind));
  return words.empty() ? "" : "-W \"" + words + "\"";
}

std::string ValueCases() {
  std::string out;
  for (const OptionRow& row : Options()) {
    if (row.kind == Kind::kFlag) continue;
    std::string compgen = Compgen(row.kind);
    out += "    " + Pattern(row) + ") ";
    out += compgen.empty() ? "COMPREPLY=() ;;\n" : "_bawn_reply " + compgen + " ;;\n";
  }
  return out;
}

std::string VerbCases() {
  std::string out;
  for (const VerbRow& row : Verbs()) {
    out += "    " + std::string(row.name) + ") options='" + OptionWords(row.verb) + "' ;;\n";
  }
  return out;
}

std::string OperandCases() {
  std::string out;
  for (const VerbRow& row : Verbs()) {
    std::string compgen;
    if (row.operand == Operand::kSandbox) compgen = "-W \"$(_bawn_sandboxes) @last\"";
    if (row.operand == Operand::kShellName) compgen = "-W '" + JoinedWords(ShellNames()) + "'";
    if (row.operand == Operand::kTopic) compgen = "-W '" + VerbNames() + "'";
    if (!compgen.empty())
      out += "    " + std::string(row.name) + ") _bawn_reply " + compgen + " ;;\n";
  }
  return out;
}

constexpr std::string_view kHead = R"(# bash completion for bawn, made by `bawn completions bash`

_bawn_sandboxes() {
  )";

constexpr std::string_view kHelpers = R"(
}

# _bawn_reply COMPGEN-ARGUMENT...: names with blanks stay whole.
_bawn_reply() {
  case $1 in -f | -d) compopt -o filenames 2>/dev/null ;; esac
  mapfile -t COMPREPLY < <(compgen "$@" -- "$cur")
}

# The value of option $1 in $cur; fails when $1 takes none.
_bawn_value() {
  case $1 in
)";

constexpr std::string_view kMain = R"(    *) return 1 ;;
  esac
}

# Sets `start` to the index of the first word of the job's command; empty when there is none yet.
_bawn_command_start() {
  local i=2 word
  start=
  while ((i < COMP_CWORD)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      start=$((i + 1))
      return
    elif [[ $word != -* ]]; then
      start=$i
      return
    elif [[ ${COMP_WORDS[i + 1]} == = ]]; then
      i=$((i + 3))
    elif [[ $word != *=* ]] && _bawn_value "$word"; then
      i=$((i + 2))
    else
      i=$((i + 1))
    fi
  done
  if ((i == COMP_CWORD)) && [[ $cur != -* ]]; then start=$i; fi
}

_bawn() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options start
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _bawn_reply -W "$verbs_and_flags"
    return
  fi
  case ${COMP_WORDS[1]} in
    run | plan)
      _bawn_command_start
      if [[ -n $start ]]; then
        COMPREPLY=()
        if declare -F _command_offset >/dev/null; then
          _command_offset "$start"
        elif ((start == COMP_CWORD)); then
          _bawn_reply -c
        else
          _bawn_reply -f
        fi
        return
      fi
      ;;
  esac
  if [[ $cur == = ]]; then
    cur=
    _bawn_value "$prev" && return
  elif [[ $prev == = ]]; then
    _bawn_value "${COMP_WORDS[COMP_CWORD - 2]}" && return
  elif [[ $prev == -* ]]; then
    _bawn_value "$prev" && return
  fi
  case ${COMP_WORDS[1]} in
)";

}  // namespace

std::string BashCompletion() {
  std::string main(kMain);
  std::string_view place = "\"$verbs_and_flags\"";
  main.replace(main.find(place), place.size(), "'" + VerbNames() + " --help --version'");
  std::string out = std::string(kHead) + std::string(kListNames) + std::string(kHelpers);
  out += ValueCases() + main + VerbCases();
  out += "    *) return ;;\n  esac\n  if [[ $cur == -* ]]; then\n    _bawn_reply -W \"$options\"\n";
  out += "    return\n  fi\n  case ${COMP_WORDS[1]} in\n" + OperandCases();
  return out + "  esac\n}\n\ncomplete -F _bawn bawn\n";
}

}  // namespace bawn::cli
